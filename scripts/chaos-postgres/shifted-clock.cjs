// Loaded before a server: its time of day is off by CHAOS_CLOCK_MS. Timers and `performance.now` go on as they are.
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
