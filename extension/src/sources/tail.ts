/** Keeps the end of what is written to it, whose length it bounds. */
export class Tail {
  #parts: string[] = [];
  #length = 0;

  constructor(readonly limit: number) {}

  append(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
    // Joined rarely: each join copies all that is kept.
    if (this.#length > 2 * this.limit) {
      const kept = this.text;
      this.#parts = [kept];
      this.#length = kept.length;
    }
  }

  /** The end of what was written, from the start of a line if something is missing before it. */
  get text(): string {
    const all = this.#parts.join('');
    if (all.length <= this.limit) {
      return all;
    }
    const end = all.slice(-this.limit);
    return end.slice(end.indexOf('\n') + 1);
  }
}
