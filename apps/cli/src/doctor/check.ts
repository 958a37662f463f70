import type { Finding } from '@herald/runtime/findings/finding';

/** What a part of the set-up looks like: what is wrong with it, or a sentence that says that it is well. */
export type Check = {
  readonly name: 'configuration' | 'redis' | 'shards' | 'secrets' | 'workers' | 'work';
  readonly findings: readonly Finding[];
  readonly well: string;
};

export const warning = (code: string, sentence: string): Finding => ({ level: 'warning', code, sentence });
export const error = (code: string, sentence: string): Finding => ({ level: 'error', code, sentence });
