import type { Finding } from '@herald/runtime/findings/finding';

/** The result for one part of the set-up. */
export type Check = {
  readonly name: 'configuration' | 'redis' | 'shards' | 'secrets' | 'proxy' | 'history' | 'workers' | 'work';
  readonly findings: readonly Finding[];
  /** The sentence without findings. */
  readonly well: string;
};

export const warning = (code: string, sentence: string): Finding => ({ level: 'warning', code, sentence });
export const error = (code: string, sentence: string): Finding => ({ level: 'error', code, sentence });
