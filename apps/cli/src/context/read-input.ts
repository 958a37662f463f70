import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { OutputStream } from '../output/create-output.ts';

/** A stream of the process, or one that a test writes. */
export type InputStream = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Characters that are read. What is asked for has some dozens. */
const LIMIT = 4_096;

/**
 * Reads what stands on standard input, without blanks around it. On a terminal it asks for one line, and doesn't show
 * what is typed.
 */
export function createReadInput(openStdin: () => InputStream, stderr: OutputStream) {
  return async function readInput(question: string): Promise<string> {
    const stdin = openStdin();
    const text = stdin.isTTY === true ? await readLine(stdin, stderr, question) : await readToEnd(stdin);
    return text.trim();
  };
}
export type ReadInput = ReturnType<typeof createReadInput>;

async function readToEnd(stdin: InputStream): Promise<string> {
  stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > LIMIT) break;
  }
  return text;
}

async function readLine(stdin: InputStream, stderr: OutputStream, question: string): Promise<string> {
  stderr.write(question);
  const silent = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const lines = createInterface({ input: stdin, output: silent, terminal: true, historySize: 0 });
  const text = await new Promise<string>((resolve) => {
    lines.once('line', resolve);
    // Ctrl-C, Ctrl-D
    lines.once('SIGINT', () => {
      lines.close();
    });
    lines.once('close', () => {
      resolve('');
    });
  });
  lines.close();
  stderr.write('\n');
  return text;
}
