import type { BodyNote } from '@herald/core';

/**
 * Nearly every answer: a whole head in the first bytes, by the letter of RFC 9112. Names and values are those that
 * Node's strict parser takes.
 */
const STRICT =
  /^HTTP\/1\.[01] ([2-5]\d\d)(?: [\t -~\x80-\xff]*)?\r\n((?:[!#-'*+\-.^-z|~\w]+:[\t -~\x80-\xff]*\r\n)*)\r\n/;
/** Both a length and an encoding, or one of them twice. */
const FRAMED_TWICE = /^(?:content-length|transfer-encoding):[^]*^(?:content-length|transfer-encoding):/im;
/** RFC 9110 sections 15.3.5 and 15.3.6: what announces content is odd. A 304 may tell a length. */
const NO_CONTENT = new Set(['204', '205']);
/** A longer head is read byte by byte. */
const STRICT_BYTES = 8 * 1_024;

const STATUS_LINE = /^HTTP\/(\d\.\d)[ \t]+(\d+)/;
const ANSWER_BEGINS = 'HTTP/';
/** What is kept of a line, a name and a value while they are read. */
const KEPT = 64;

const [TAB, LF, CR, BLANK, DASH, COLON, UNDERSCORE, DELETE] = [0x09, 0x0a, 0x0d, 0x20, 0x2d, 0x3a, 0x5f, 0x7f] as const;

/**
 * Reads heads of one request's answer as their bytes come, and mends in place what curl and Go's client read and Node's
 * parser, however lenient, doesn't: a length that is said twice, and a blank in or behind a name. Each mended byte is
 * replaced by one other, so nothing moves. It also notes what is odd but read.
 */
export class AnswerHead {
  #begin = '';
  #isOver = false;
  #hasBegun = false;
  /** Undefined: the strict patterns have read all of it. */
  #bytewise: BytewiseHead | undefined;

  /** A byte came. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** What came begins as an answer does, so far. */
  get isAnswer(): boolean {
    return ANSWER_BEGINS.startsWith(this.#begin);
  }

  /** What is odd about it. A connection is not used again after such an answer. */
  get note(): BodyNote | undefined {
    return this.#bytewise?.note();
  }

  /**
   * Reads a part of the answer, in place, before Node's parser gets the same bytes. False: no client reads such a head,
   * and Node's parser must not either.
   */
  read(bytes: Buffer): boolean {
    if (this.#isOver) return true;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      const strict = STRICT.exec(bytes.toString('latin1', 0, STRICT_BYTES));
      if (strict && !NO_CONTENT.has(strict[1] ?? '') && !FRAMED_TWICE.test(strict[2] ?? '')) {
        this.#isOver = true;
        return true;
      }
    }
    if (this.#begin.length < ANSWER_BEGINS.length) {
      this.#begin = (this.#begin + bytes.toString('latin1', 0, ANSWER_BEGINS.length)).slice(0, ANSWER_BEGINS.length);
    }
    this.#bytewise ??= createBytewiseHead();
    const isRead = this.#bytewise.read(bytes);
    this.#isOver = this.#bytewise.isOver();
    return isRead;
  }
}

type BytewiseHead = ReturnType<typeof createBytewiseHead>;

function createBytewiseHead() {
  let isOver = false;
  let isOdd = false;
  let note: BodyNote | undefined;

  let state: 'status' | 'line' | 'name' | 'value' = 'status';
  let previous = 0;
  /** The status line, then each name and value, in small letters and cut. */
  let line = '';
  let name = '';
  let value = '';
  let status = 0;
  let headers = 0;
  let length: string | undefined;
  let isRepeated = false;
  let hasEncoding = false;

  const finish = (): void => {
    if (status >= 100 && status <= 199 && status !== 101) {
      [state, line, headers, length, hasEncoding] = ['status', '', 0, undefined, false];
      return;
    }
    isOver = true;
    if (length !== undefined && hasEncoding) isOdd = true;
    note = noteOf(status, length, hasEncoding) ?? (isOdd ? 'odd_headers' : undefined);
  };

  /** False: the lengths differ, or a line that continues another stands first. */
  const endLine = (): boolean => {
    if (previous !== CR) isOdd = true;
    if (state === 'status') {
      const [, version, digits] = STATUS_LINE.exec(line) ?? [];
      if (line.trim() === '') return true;
      if (version !== '1.1' && version !== '1.0') isOdd = true;
      status = Number(digits ?? 0);
    } else if (state === 'value') {
      headers++;
      if (name === 'transfer-encoding') hasEncoding = true;
      if (name === 'content-length') {
        if (isRepeated && value.trim() !== length) return false;
        length ??= value.trim();
      }
    }
    state = 'line';
    return true;
  };

  /** False: no client reads on. */
  const readByte = (bytes: Buffer, index: number): boolean => {
    const byte = bytes[index] ?? 0;
    if (byte === 0) return false;
    if (state === 'line') return startLine(bytes, index);
    if (byte === LF) return endLine();
    if (state === 'status') {
      if (line.length < KEPT) line += String.fromCharCode(byte);
    } else if (state === 'name') {
      if (byte === COLON) state = 'value';
      else readName(bytes, index);
    } else {
      if (value.length < KEPT) value += String.fromCharCode(byte);
      // Control bytes: curl reads them, and they are shown as U+FFFD.
      if ((byte < BLANK && byte !== TAB && byte !== CR) || byte === DELETE) isOdd = true;
    }
    return true;
  };

  const startLine = (bytes: Buffer, index: number): boolean => {
    const byte = bytes[index] ?? 0;
    if (byte === CR) return true;
    if (byte === LF) {
      if (previous !== CR) isOdd = true;
      finish();
      return true;
    }
    if (byte === BLANK || byte === TAB) {
      isOdd = true;
      state = 'value';
      return headers > 0;
    }
    [state, name, value, isRepeated] = ['name', '', '', false];
    readName(bytes, index);
    return true;
  };

  const readName = (bytes: Buffer, index: number): void => {
    const byte = bytes[index] ?? 0;
    if (byte === BLANK) {
      isOdd = true;
      // Node takes a blank behind the names that frame the body, and must know them.
      if (name !== 'content-length' && name !== 'transfer-encoding') bytes[index] = DASH;
      return;
    }
    if (name.length < KEPT) name += String.fromCharCode(byte).toLowerCase();
    if (name === 'content-length' && length !== undefined) {
      // The first stays. Node must not see the second.
      bytes[index] = UNDERSCORE;
      isRepeated = true;
      isOdd = true;
    }
  };

  return {
    read(bytes: Buffer): boolean {
      for (const [index, byte] of bytes.entries()) {
        // `byte` is what came: it may be mended below.
        if (!readByte(bytes, index)) return false;
        previous = byte;
        if (isOver) break;
      }
      return true;
    },
    isOver: () => isOver,
    note: () => note,
  };
}

/** 204 and 205 have no content, and say so by no length or 0. */
function noteOf(status: number, length: string | undefined, hasEncoding: boolean): BodyNote | undefined {
  if (!NO_CONTENT.has(String(status))) return undefined;
  const announces = hasEncoding || (length !== undefined && Number(length) !== 0);
  return announces ? 'body_not_allowed' : undefined;
}
