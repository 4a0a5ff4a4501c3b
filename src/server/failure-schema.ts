// The schema of a failure response.
import { z } from 'zod';
import { serviceErrorCodes } from '../service/errors.ts';

const budgetLeft = z.number().int().nullable();

export const failure = z.strictObject({
  success: z.literal(false),
  error: z.strictObject({
    code: z.enum(serviceErrorCodes),
    message: z.string().describe('what failed, and what to do next'),
    details: z
      .union([
        z.array(z.strictObject({ field: z.string(), problem: z.string() })),
        z.strictObject({ remaining: z.strictObject({ turns: budgetLeft, tokens: budgetLeft }) }),
      ])
      .optional()
      .describe('each fault of the request; for a key that has used up its budget, what remains of it today'),
    session_id: z
      .string()
      .optional()
      .describe('the session of a chat that failed after its message was stored'),
    message_id: z.string().optional(),
  }),
  request_id: z.string().describe('identifies the request in the log of the server'),
});
