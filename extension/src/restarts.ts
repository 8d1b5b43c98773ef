/** How often, and how fast, a server that dies is started again. */
export interface RestartLimits {
  readonly count: number;
  readonly windowMs: number;
}

/**
 * Decides whether a server that has died is started again.
 *
 * The first restart is immediate, since a single death is usually an accident
 * that the user should not notice. Further ones within the window wait longer
 * each time, and after too many the policy gives up: a server that dies on the
 * same input again and again would only burn the machine.
 */
export class RestartPolicy {
  #deaths: number[] = [];

  constructor(readonly limits: RestartLimits = { count: 5, windowMs: 3 * 60 * 1000 }) {}

  /**
   * Records a death at the time now and returns the milliseconds to wait before
   * the restart, or undefined to leave the server stopped.
   */
  died(now: number): number | undefined {
    this.#deaths = this.#deaths.filter((time) => now - time < this.limits.windowMs);
    this.#deaths.push(now);
    const deaths = this.#deaths.length;
    if (deaths > this.limits.count) {
      return undefined;
    }
    return deaths === 1 ? 0 : 250 * 2 ** (deaths - 2);
  }

  /** Forgets past deaths, because the user asked for a fresh start. */
  reset(): void {
    this.#deaths = [];
  }
}
