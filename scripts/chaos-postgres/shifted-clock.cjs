// Loaded before a server: shifts its time of day by CHAOS_CLOCK_MS. Timers and `performance.now` are not affected.
const shiftMs = Number(process.env.CHAOS_CLOCK_MS);
const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + shiftMs);
    else super(...parts);
  }

  static now() {
    return RealDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate;
