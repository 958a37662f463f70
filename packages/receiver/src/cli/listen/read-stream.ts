/** One server-sent event; a comment, which only shows that the connection lives, has none of the fields. */
export type StreamEvent = { readonly event?: string; readonly data?: string; readonly id?: string };

/** Reads server-sent events (the HTML standard, section 9.2) as Herald writes them. */
export async function* readStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield readFields(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

function readFields(block: string): StreamEvent {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) fields[name] = value;
  }
  return fields;
}
