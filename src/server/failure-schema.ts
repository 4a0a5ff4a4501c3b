// The schema of an answer that tells a failure.
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
      .describe('each fault of the request; for a key whose budget is used up, what is left of it today'),
    session_id: z.string().optional().describe('of a chat that failed after its message was kept'),
    message_id: z.string().optional(),
  }),
  request_id: z.string().describe('identifies the call in the log of the server'),
});
