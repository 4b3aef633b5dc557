// Server-sent events out of a stream of bytes that may be cut anywhere. Only what the server writes: "data: " lines and
// an empty line behind each.

export class EventReader {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private rest = '';

  // The data of the events that are complete now, in order.
  push(bytes: Uint8Array): string[] {
    this.rest += this.decoder.decode(bytes, { stream: true });
    const parts = this.rest.split('\n\n');
    this.rest = parts.pop() ?? '';
    const events: string[] = [];
    for (const part of parts) {
      const lines = part.split('\n').filter((line) => line.startsWith('data:'));
      if (lines.length > 0) events.push(lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n'));
    }
    return events;
  }

  // Whether the stream ended between two events.
  get isEmpty(): boolean {
    return this.rest === '';
  }
}
