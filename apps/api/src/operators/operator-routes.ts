import { operation, type RouteTable } from '../http/operation.ts';
import { type ManagePortalLinks, OpenWorkspace, PortalLinkView } from '../portal-links/manage-portal-links.ts';
import {
  AuditPage,
  FailedPage,
  ListAudit,
  ListFailed,
  ListWaitingReceivers,
  type OperatorReads,
  SearchFor,
  SearchResults,
  WaitingReceiverList,
} from './operator-lists.ts';
import { OverviewView, ReadOverview, type ReadServiceOverview } from './read-overview.ts';

export type OperatorRoutesDeps = {
  readonly readOverview: ReadServiceOverview;
  readonly reads: OperatorReads;
  readonly portalLinks: Pick<ManagePortalLinks, 'createAsOperator'>;
};

/** What operators see of the whole service, behind the sign-in of the board. */
export const OPERATOR_ROUTES: RouteTable<OperatorRoutesDeps> = {
  tag: 'Operators',
  path: '/api/operator',
  access: 'operator',
  ids: { id: 'workspace' },
  operations: [
    operation('readOverview', 'GET /overview', {
      summary: 'Read the state of the service',
      query: ReadOverview,
      answer: { status: 200, description: 'The state now.', schema: OverviewView },
      async handle({ readOverview }, _req, _res, { window }) {
        return await readOverview(window);
      },
    }),
    operation('listWaitingReceivers', 'GET /receivers', {
      summary: 'List the receivers with waiting deliveries',
      description:
        'Those with the most first. Of very many, only those that are served soonest. The callbacks of a workspace to one origin count as one.',
      query: ListWaitingReceivers,
      answer: { status: 200, description: 'The receivers.', schema: WaitingReceiverList },
      async handle({ reads }, _req, _res, { limit, find }) {
        return { receivers: await reads.listWaiting(limit, find) };
      },
    }),
    operation('searchService', 'GET /search', {
      summary: 'Find a workspace by one of its ids or hosts',
      description:
        'An id is looked up exactly. A host, or a part of one, is looked for among the receivers for two seconds at most, until twenty or more are found: `complete` says whether that was all of them.',
      query: SearchFor,
      answer: { status: 200, description: 'What was found.', schema: SearchResults },
      async handle({ reads }, _req, _res, { q }) {
        return await reads.search(q);
      },
    }),
    operation('listFailedDeliveries', 'GET /deliveries/failed', {
      summary: 'List the deliveries of all workspaces that failed lately',
      description:
        'Newest first, at most a thousand of each shard. Beyond that, the workspaces with the most give their oldest, so that none hides what failed for others; the lists of their receivers have all.',
      query: ListFailed,
      answer: { status: 200, description: 'A page.', schema: FailedPage },
      async handle({ reads }, _req, _res, { limit, cursor }) {
        return await reads.listFailed(limit, cursor);
      },
    }),
    operation('listAudit', 'GET /audit', {
      summary: 'List who changed what',
      description:
        'Newest first: receivers, secrets, callbacks, keys, portal links, replays, redeliveries, erasures, pauses and what the command line did; not the life of Tasks. A filter may leave a page short, or empty, and the next page has more: go on until `nextCursor` is null. Old entries come from the history, if the service has one.',
      query: ListAudit,
      answer: { status: 200, description: 'A page.', schema: AuditPage },
      problems: ['history_unavailable'],
      async handle({ reads }, _req, _res, query) {
        return await reads.listAudit(query);
      },
    }),
    operation('openWorkspace', 'POST /workspaces/{id}/portal-links', {
      forReaders: true,
      audit: 'answer',
      summary: "Make a link to a workspace's console, as operator",
      description:
        'Without `OPERATOR_WRITE=true` the link is read-only whatever is asked. The log names who made it, and what was changed with it.',
      body: OpenWorkspace,
      answer: { status: 201, description: 'The link.', schema: PortalLinkView, headers: ['cache-control'] },
      problems: ['portal_link_limit_reached'],
      async handle({ portalLinks }, req, _res, request) {
        return await portalLinks.createAsOperator(req.params.id, request);
      },
    }),
  ],
};
