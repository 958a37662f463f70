import type { Schemas } from '../api/client.ts';

type Found = Pick<Schemas['SearchResults']['results'][number], 'kind' | 'id'>;

/** Where in its workspace's console a thing is. */
export function pageOfResult({ kind, id }: Found): string {
  switch (kind) {
    case 'receiver':
      return `/console/receivers/${id}`;
    case 'delivery':
      return `/console/deliveries/${id}`;
    case 'task':
      return `/console/tasks/${id}`;
    case 'workspace':
    case 'host':
      return '/console/receivers';
  }
}
