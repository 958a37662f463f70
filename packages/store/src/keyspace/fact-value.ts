import type { KnownFact } from '@herald/core';

/**
 * What a Task's facts hold of a fact: the sequence of its transition, and behind a point the digest of its report, if it
 * has one. A version that knows no digests reads it as a number, and finds the order of the sequences.
 */
export function writeFactValue({ sequence, digest }: KnownFact): string {
  return digest === undefined ? String(sequence) : `${sequence}.${digest}`;
}

export function readFactValue(value: string): KnownFact {
  const [sequence, digest] = value.split('.');
  return { sequence: Number(sequence), ...(digest !== undefined && { digest }) };
}
