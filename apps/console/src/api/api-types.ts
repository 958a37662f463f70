// Written by `npm run api:types` from the OpenAPI document.
export interface paths {
    "/api/public/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the receivers of the workspace
         * @description Needs an API key with the scope `webhooks`, or a portal link.
         */
        get: operations["listReceivers"];
        put?: never;
        /**
         * Register a receiver
         * @description A workspace has at most 10 receivers. The signing secret is shown only in this answer.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
         */
        post: operations["registerReceiver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a receiver
         * @description Its `ETag` stands for what can be set, not for its `health`.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link.
         */
        get: operations["readReceiver"];
        put?: never;
        post?: never;
        /**
         * Remove a receiver
         * @description Its pending deliveries are canceled. A locked one can be removed, too.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
         */
        delete: operations["removeReceiver"];
        options?: never;
        head?: never;
        /**
         * Change a receiver
         * @description A receiver that the platform has locked is not changed. Omitted fields stay unchanged. A new URL, or enabling, resets the failure count. A URL of another origin (scheme, host and port) removes the `headers`, unless they are given in the same request: the answer then has no `headerNames`. A new `rateLimit` is also for what waits already; null removes it.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
         */
        patch: operations["changeReceiver"];
        trace?: never;
    };
    "/api/public/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Sends a signed `webhook.test` now, also to a receiver that is disabled, unless the platform has locked it, and whatever its `events` are. It is never retried. With `event`, it sends a sample of that event: made like a real one, with the header `x-service-sample: true`, and of a Task that does not exist (`task_sample…`).
         *
         *     Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
         */
        post: operations["testReceiver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/webhooks/{id}/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate a receiver's signing secret
         * @description Also of one that is disabled or locked.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
         */
        post: operations["rotateReceiverSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/webhooks/{id}/secret/previous": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End the overlap of a rotation of a receiver's secret
         * @description The old secret is out of force at once, and the new one stays. Does nothing while no overlap is running (`secretOverlapEndsAt`). Also of one that is disabled or locked.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
         */
        delete: operations["endReceiverOverlap"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a receiver's deliveries
         * @description Newest first. For what has come since, keep the `sinceCursor` of the first page. Old deliveries come from the history, if the service has one. When it cannot be reached, a page with newer ones says `historyUnavailable`, and one that would have none is `history_unavailable`.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link.
         */
        get: operations["listReceiverDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/webhooks/{id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what attempts to a receiver came to
         * @description Needs an API key with the scope `webhooks`, or a portal link.
         */
        get: operations["readReceiverStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/webhooks/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send the deliveries of a time range again
         * @description Sends the same bytes under the same delivery ids.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
         */
        post: operations["replayDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/webhooks/{id}/lock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a receiver until the platform lifts that
         * @description Its pending deliveries are canceled. Until the lock is lifted nothing is sent to it, and its workspace can only read, rotate its secret and remove it: everything else is `receiver_locked`. One that is disabled already stays so. A second lock replaces the reason.
         *
         *     Needs a portal link that an operator made, with `OPERATOR_WRITE=true`.
         */
        post: operations["lockReceiver"];
        /**
         * Lift the lock of a receiver, and enable it
         * @description It is enabled whoever disabled it. What it missed is brought back by a replay.
         *
         *     Needs a portal link that an operator made, with `OPERATOR_WRITE=true`.
         */
        delete: operations["unlockReceiver"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/webhooks/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hold back what is sent to a receiver until the platform lifts that
         * @description Its deliveries wait, redeliveries and replays too, and lose no try; test events are still sent. Nothing that its workspace does lifts the pause: it can change, disable and remove the receiver, which stays paused. What waits for longer than deliveries are tried is then `failed` as `too_old`. A second pause replaces the reason.
         *
         *     Needs a portal link that an operator made, with `OPERATOR_WRITE=true`.
         */
        post: operations["pauseReceiver"];
        /**
         * Let what waits for a paused receiver go
         * @description What waited goes in its order. One that is disabled stays so.
         *
         *     Needs a portal link that an operator made, with `OPERATOR_WRITE=true`.
         */
        delete: operations["resumeReceiver"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of the workspace
         * @description Newest first, to receivers (also to those removed lately) and to callbacks. A filter may leave a page short, or empty, and the next page has more: go on until `nextCursor` is null. With another filter, begin without a cursor. For what has come since, keep the `sinceCursor` of the first page. Old deliveries come from the history, if the service has one. When it cannot be reached, a page with newer ones says `historyUnavailable`, and one that would have none is `history_unavailable`.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a delivery: its request and its attempts
         * @description Needs an API key with the scope `webhooks`, or a portal link.
         */
        get: operations["readDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make one more attempt now
         * @description Sends the same bytes under the same delivery id. After the 202, the attempt is made even if processes crash. It stands beside the schedule: a success makes the delivery `delivered`, a failure leaves its status, `tries` and `nextAttemptAt`.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
         */
        post: operations["redeliverDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/replays/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the progress of a replay
         * @description Needs an API key with the scope `webhooks`, or a portal link.
         */
        get: operations["readReplay"];
        put?: never;
        post?: never;
        /**
         * Stop a replay
         * @description Deliveries that are already pending are still sent.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link that is not read-only.
         */
        delete: operations["stopReplay"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what attempts of the workspace came to
         * @description Those to receivers and to callbacks, by time.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link.
         */
        get: operations["readStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask whether anything happened
         * @description Of a receiver, of a callback, or of the whole workspace. The version changes when a delivery is accepted, attempted, redelivered or replayed, and when a receiver changes or its pending deliveries are canceled. It costs much less than a list: ask every few seconds, and read the list when the version has changed. It looks at no delivery, so it does not tell of the attempt of a test event, of what a removed receiver still had waiting, nor, for the whole workspace, of a redelivery to a callback before its attempt. So read the list every few minutes too. It may change although nothing happened.
         *
         *     Needs an API key with the scope `webhooks`, or a portal link.
         */
        get: operations["readActivity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/listen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Listen to events while you develop
         * @description The events of the workspace's Tasks, as server-sent events, from the moment of the first one, `listening`. Each has the name of its event as `event`, the body that receivers get as `data`, and as `id` a delivery id of this listener. For development alone: an event is shown at most once, what happens while nobody is connected is not shown later, and deliveries to receivers are the same with it and without. Every ten seconds a comment shows that the connection lives. The stream ends when its key expires or is revoked. When the service ends the stream, the last event is `end`, with `reason` (`stopping`, `key_ended`, `place_taken` or `too_slow`) and `detail`. At most 5 listeners a workspace. `herald-receiver listen`, of the kit, brings the events to a local program, signed.
         *
         *     Needs an API key with the scope `webhooks`.
         */
        get: operations["listenToEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the Tasks of the workspace
         * @description Newest first, without their input, messages and decisions: `GET /tasks/{id}` has these. A page ends at 1 MiB of JSON, with one Task at least, and a filter may leave it short, or empty; the next page has more: go on until `nextCursor` is null.
         *
         *     Needs an API key with the scope `tasks`.
         */
        get: operations["listWorkspaceTasks"];
        put?: never;
        /**
         * Create a Task
         * @description The signing secret of a callback is shown only in this answer.
         *
         *     Needs an API key with the scope `tasks`.
         */
        post: operations["createTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a Task
         * @description Has the result, outcome and usage that terminal events omit, and the input, messages and decisions of the Task.
         *
         *     Needs an API key with the scope `tasks`.
         */
        get: operations["readTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add context to a Task
         * @description Use it when a `task.requires_action` event arrives.
         *
         *     Needs an API key with the scope `tasks`.
         */
        post: operations["addMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/approvals/{approvalId}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve an approval request
         * @description Resolving the primary request sets the Task running. An action whose `api_resolvable` is false takes only a key that has the scope `approvals:any` besides `tasks`.
         *
         *     Needs an API key with the scope `tasks`.
         */
        post: operations["resolveApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a Task
         * @description Needs an API key with the scope `tasks`.
         */
        post: operations["cancelTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close a Task (legacy)
         * @deprecated
         * @description For callers of former times. Use `POST /tasks/{id}/cancel`, or the report of an executor. It makes the same transition as these, with the same delivery ids, and is not going to be removed.
         *
         *     Needs an API key with the scope `tasks`.
         */
        post: operations["closeTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a Task's deliveries
         * @description Includes those to its callback. Newest transition first. Old deliveries come from the history, if the service has one. When it cannot be reached, a page with newer ones says `historyUnavailable`, and one that would have none is `history_unavailable`.
         *
         *     Needs an API key with the scope `tasks`, or a portal link.
         */
        get: operations["listTaskDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a Task's callback
         * @description A callback that the platform has locked is not changed. What is left out stays as it is. A new url forgets the failures of the old one; so does enabling. A URL of another origin removes the `headers`, unless they are given in the same request. A redelivery brings back what it missed.
         *
         *     Needs an API key with the scope `tasks`.
         */
        patch: operations["changeCallback"];
        trace?: never;
    };
    "/tasks/{id}/callback/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret of a Task's callback
         * @description Needs an API key with the scope `tasks`.
         */
        post: operations["rotateCallbackSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/payloads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Erase what a closed Task held
         * @description Erases its input, messages, decisions, result and outcome, the bodies of its webhooks, and what their endpoints answered. What stays: that it was delivered, to which endpoint, when and with which status, and the Task's `usage`. Pending deliveries of the Task end as `canceled` with the reason `payload_erased`; a request that is under way at that moment may still arrive. Repeat it until it is answered: that changes nothing, or finishes what was interrupted.
         *
         *     Needs an API key with the scope `tasks`.
         */
        delete: operations["erasePayloads"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/internal/tasks/{id}/transitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a transition of a Task
         * @description A fact that is reported again changes nothing. The answer is `duplicate: true`, with `differs: true` if its contents are others.
         *
         *     Needs an API key with the scope `execute`.
         */
        post: operations["reportTransition"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/internal/transitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report up to 500 transitions
         * @description Items are judged one by one, in order. An invalid item doesn't affect the others. The body may have 4 MiB.
         *
         *     Needs an API key with the scope `execute`.
         */
        post: operations["reportTransitions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/internal/tasks/{id}/approvals/{approvalId}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve an approval request of any workspace
         * @description For the page behind `action_url`, where somebody has signed in: also resolves what is not `api_resolvable`.
         *
         *     Needs an API key with the scope `execute`.
         */
        post: operations["resolveAnyApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/internal/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tasks of all workspaces by status
         * @description Longest unchanged first. A page ends at 1 MiB of JSON, with one Task at least: go on until `nextCursor` is null.
         *
         *     Needs an API key with the scope `execute`.
         */
        get: operations["listTasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/internal/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a Task's input, messages and decisions
         * @description Needs an API key with the scope `execute`.
         */
        get: operations["readExecutorTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the process lives
         * @description It looks at nothing else: not at Redis, and at no worker.
         */
        get: operations["isAlive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that requests can be served
         * @description Missing workers are a warning: transitions are accepted without them.
         */
        get: operations["isReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List where to go
         * @description A browser gets a page.
         */
        get: operations["readStartPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List every error code
         * @description With what each means, and what to do. A browser gets a page.
         */
        get: operations["listErrorCodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/portal-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the links to the console
         * @description Those that work now, newest first, with those that operators of the service made. Never a token. Links that were made before this operation was there are not listed; they end within a day.
         *
         *     Needs an API key with the scope `webhooks`.
         */
        get: operations["listPortalLinks"];
        put?: never;
        /**
         * Make a link to the console
         * @description Whoever has the link sees the receivers and deliveries of the workspace, and changes them unless it is read-only. It sees no input and no result of a Task. It ends with its time, with the API key that made it, or by `DELETE /api/public/portal-links/{id}`. A workspace has at most 100 living links; those that operators made count apart.
         *
         *     Needs an API key with the scope `webhooks`.
         */
        post: operations["createPortalLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/portal-links/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a link to the console
         * @description At once: every request with its token is refused from then on.
         *
         *     Needs an API key with the scope `webhooks`.
         */
        delete: operations["revokePortalLink"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/public/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what these credentials may do
         * @description Needs an API key of a workspace, or a portal link.
         */
        get: operations["readAccess"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/platform/workspaces/{workspaceId}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys of a workspace
         * @description Those that work now, newest first, however they were made. Never the keys themselves.
         *
         *     Needs an API key with the scope `platform`.
         */
        get: operations["listWorkspaceKeys"];
        put?: never;
        /**
         * Make an API key for a workspace
         * @description Nothing else is needed to sign a customer up: a workspace is there once it has anything. A workspace that has 100 living keys, however they were made, gets no more this way.
         *
         *     Needs an API key with the scope `platform`.
         */
        post: operations["createWorkspaceKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/platform/workspaces/{workspaceId}/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key of a workspace
         * @description At once: every request with it is refused from then on. The portal links that it made end with it.
         *
         *     Needs an API key with the scope `platform`.
         */
        delete: operations["revokeWorkspaceKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/platform/workspaces/{workspaceId}/portal-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the links to the console of a workspace
         * @description Those that work now, newest first, whoever made them. Never a token.
         *
         *     Needs an API key with the scope `platform`.
         */
        get: operations["listWorkspacePortalLinks"];
        put?: never;
        /**
         * Make a link to the console of a workspace
         * @description It ends with its time, with the platform key that made it, or by a DELETE. A workspace has at most 100 living links; those that operators made count apart.
         *
         *     Needs an API key with the scope `platform`.
         */
        post: operations["createWorkspacePortalLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/platform/workspaces/{workspaceId}/portal-links/{linkId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a link to the console of a workspace
         * @description At once: every request with its token is refused from then on.
         *
         *     Needs an API key with the scope `platform`.
         */
        delete: operations["revokeWorkspacePortalLink"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/platform/workspaces/{workspaceId}/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a Task of a workspace
         * @description As `POST /tasks` with a key of the workspace, but it may run in any workspace: what the platform names is believed.
         *
         *     Needs an API key with the scope `platform`.
         */
        post: operations["createWorkspaceTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/platform/workspaces/{workspaceId}/execution-workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List where Tasks of a workspace may run
         * @description The workspaces that are bound to it, the oldest binding first. Its Tasks may run in itself, too.
         *
         *     Needs an API key with the scope `platform`.
         */
        get: operations["listExecutionWorkspaces"];
        put?: never;
        /**
         * Let Tasks of a workspace run in another
         * @description Keys of the workspace may then name it as `executionWorkspaceId`. Events go to the receivers of the workspace in any case. A second request changes nothing. A workspace is bound to at most 100.
         *
         *     Needs an API key with the scope `platform`.
         */
        post: operations["bindExecutionWorkspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/platform/workspaces/{workspaceId}/execution-workspaces/{executionWorkspaceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Let no more Tasks of a workspace run in another
         * @description Tasks that are there already stay as they are.
         *
         *     Needs an API key with the scope `platform`.
         */
        delete: operations["unbindExecutionWorkspace"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/platform/workspaces/{workspaceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a workspace, and erase what it held
         * @description Its keys and portal links end at once; its receivers and bindings are removed; its open Tasks are canceled; and of each Task all is erased that `DELETE /tasks/{id}/payloads` erases, also in the history. A request works for some ten seconds: repeat it until `erased` is true. Several may run at once, and whatever else ends meanwhile is passed over. What stays are facts without content, and the audit trail, until their time is over.
         *
         *     Needs an API key with the scope `platform`.
         */
        delete: operations["eraseWorkspace"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/operator/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the state of the service
         * @description For operators, who sign in as on the board.
         */
        get: operations["readOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/operator/receivers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the receivers with waiting deliveries
         * @description Those with the most first. Of very many, only those that are served soonest. The callbacks of a workspace to one origin count as one.
         *
         *     For operators, who sign in as on the board.
         */
        get: operations["listWaitingReceivers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/operator/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find a workspace by one of its ids or hosts
         * @description An id is looked up exactly. A host, or a part of one, is looked for among the receivers for two seconds at most, until twenty or more are found: `complete` says whether that was all of them.
         *
         *     For operators, who sign in as on the board.
         */
        get: operations["searchService"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/operator/deliveries/failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of all workspaces that failed lately
         * @description Newest first, at most a thousand of each shard. Beyond that, the workspaces with the most give their oldest, so that none hides what failed for others; the lists of their receivers have all.
         *
         *     For operators, who sign in as on the board.
         */
        get: operations["listFailedDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/operator/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who changed what
         * @description Newest first: receivers, secrets, callbacks, keys, portal links, replays, redeliveries, erasures, pauses and what the command line did; not the life of Tasks. A filter may leave a page short, or empty, and the next page has more: go on until `nextCursor` is null. Old entries come from the history, if the service has one.
         *
         *     For operators, who sign in as on the board.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/operator/workspaces/{id}/portal-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a link to a workspace's console, as operator
         * @description Without `OPERATOR_WRITE=true` the link is read-only whatever is asked. The log names who made it, and what was changed with it.
         *
         *     For operators, who sign in as on the board.
         */
        post: operations["openWorkspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "task.check_in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A Task reached a material canonical checkpoint. */
        post: operations["onTaskCheckIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.requires_action": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A Task needs an approval or a decision. */
        post: operations["onTaskRequiresAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.done": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A Task is done. Read its result with `GET /tasks/{id}`. */
        post: operations["onTaskDone"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "task.canceled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A Task was canceled. */
        post: operations["onTaskCanceled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The test operation was called. */
        post: operations["onWebhookTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "receiver.failing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A receiver has failed for an hour without a success. Sent once, until it recovers. */
        post: operations["onReceiverFailing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "receiver.disabled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Herald disabled a receiver. */
        post: operations["onReceiverDisabled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "receiver.recovered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A receiver that was reported as failing or disabled succeeded again. */
        post: operations["onReceiverRecovered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "callback.disabled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Herald disabled a Task's callback. */
        post: operations["onCallbackDisabled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        RegisterReceiver: {
            url: components["schemas"]["EndpointUrl"];
            /** @description The events to send. Empty means every event. */
            events?: components["schemas"]["EventName"][];
            /**
             * @description For people.
             * @default
             * @example Billing, production
             */
            description?: string;
            /**
             * @description A disabled receiver gets only test events.
             * @default true
             */
            enabled?: boolean;
            /** @description Headers of your own, sent with every delivery: at most 10, of 4096 bytes together. Values are visible ASCII, kept encrypted, and never shown again. None of those that Herald sends (`x-service-…`, `webhook-…`, `user-agent`, `traceparent`), none that changes the request or its connection (`host`, `content-…`, `accept-encoding`, …) or tells of proxies (`x-forwarded-…`). */
            headers?: {
                [key: string]: string;
            };
            maxRetryHours?: number | null;
            ordering?: components["schemas"]["Ordering"];
            /**
             * @description How long an event waits for those before it. Then it is sent with the header `x-service-ordering: released`. Default: 86400, a day. It counts only with `ordering: "task"`.
             * @example 86400
             */
            orderingTimeoutSeconds?: number;
            /**
             * @deprecated
             * @description The former name of `orderingTimeoutSeconds`, as a text. How long an event waits for those before it, from 1m to 5d. Then it is sent with the header `x-service-ordering: released`. Default: 24h. It counts only with `ordering: "task"`.
             */
            orderingTimeout?: string;
            rateLimit?: components["schemas"]["RateLimit"] | null;
        };
        /**
         * @description `https://` and a public host. No credentials, no fragment. The path and query are in their normal form: no `..`, and percent-encoded where needed. Called exactly as it was sent.
         * @example https://hooks.example.com/herald
         */
        EndpointUrl: string;
        /**
         * @description What happened. Only the test operation sends `webhook.test`.
         * @enum {string}
         */
        EventName: "task.check_in" | "task.requires_action" | "task.done" | "task.canceled" | "webhook.test";
        /**
         * @description `task`: the next event of a Task is sent when the one before is `delivered`, `failed` or `canceled`. `none`, the default: each is sent at once.
         * @enum {string}
         */
        Ordering: "none" | "task";
        /**
         * @description The most deliveries in a second. After a quiet time a burst of one second may come at once. What waits spends no try. A redelivery does not wait, and test events do not count.
         * @example {
         *       "perSecond": 10
         *     }
         */
        RateLimit: {
            perSecond: number;
        };
        /**
         * @description Id of a receiver.
         * @example wh_01kes8t4a0q3m1y5b9z7x2c6vd
         */
        ReceiverId: string;
        /** @description Omitted fields stay unchanged. A url of another origin removes the `headers`, unless they are given with it. `headers` replaces all of them, and `{}` removes them. `maxRetryHours` or `rateLimit` of null removes it. */
        PatchReceiver: {
            url?: components["schemas"]["EndpointUrl"];
            /** @description The events to send. Empty means every event. */
            events?: components["schemas"]["EventName"][];
            /**
             * @description For people.
             * @example Billing, production
             */
            description?: string;
            /** @description A disabled receiver gets only test events. */
            enabled?: boolean;
            /** @description Headers of your own, sent with every delivery: at most 10, of 4096 bytes together. Values are visible ASCII, kept encrypted, and never shown again. None of those that Herald sends (`x-service-…`, `webhook-…`, `user-agent`, `traceparent`), none that changes the request or its connection (`host`, `content-…`, `accept-encoding`, …) or tells of proxies (`x-forwarded-…`). */
            headers?: {
                [key: string]: string;
            };
            maxRetryHours?: number | null;
            ordering?: components["schemas"]["Ordering"];
            /**
             * @description How long an event waits for those before it. Then it is sent with the header `x-service-ordering: released`. Default: 86400, a day. It counts only with `ordering: "task"`.
             * @example 86400
             */
            orderingTimeoutSeconds?: number;
            /**
             * @deprecated
             * @description The former name of `orderingTimeoutSeconds`, as a text. How long an event waits for those before it, from 1m to 5d. Then it is sent with the header `x-service-ordering: released`. Default: 24h. It counts only with `ordering: "task"`.
             */
            orderingTimeout?: string;
            rateLimit?: components["schemas"]["RateLimit"] | null;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly id?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly createdAt?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly health?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly pausedAt?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly pausedReason?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly secretOverlapEndsAt?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly warnings?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly disabledAt?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly disabledReason?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly disabledBy?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly lockedReason?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly headerNames?: unknown;
        };
        /**
         * @example {
         *       "event": "task.done"
         *     }
         */
        RequestTest: {
            /**
             * @description `webhook.test`, or the event of a Task to send a sample of.
             * @default webhook.test
             */
            event?: components["schemas"]["EventName"];
        };
        RotateSecret: {
            /**
             * @description How long the old secret stays in force beside the new one, in seconds. 0 switches now.
             * @default 86400
             */
            overlapSeconds?: number;
        };
        /** @enum {string} */
        DeliveryStatus: "pending" | "delivered" | "failed" | "canceled";
        /** @enum {string} */
        StatsWindow: "1h" | "24h" | "7d";
        RequestReplay: {
            /**
             * Format: date-time
             * @description Deliveries accepted at or after this time.
             */
            since: string;
            /**
             * Format: date-time
             * @description Deliveries accepted before this time. Default: now.
             */
            until?: string;
            /** @description Default: `failed` and `canceled`. One that is `pending` gets one more attempt now, beside its schedule, unless it is due anyway or waits for its turn; while the receiver is held back, one is tried at once. One that is `delivered` stays so, at its time, and gets one more attempt. One status alone, without the array, is taken too. */
            status?: components["schemas"]["ReplayableStatus"][];
            /** @description Only deliveries of this event. */
            event?: components["schemas"]["EventName"];
            /**
             * @description Whose last attempt has this `error`, or which have this `reason`.
             * @example tls_expired
             */
            error?: string;
            /**
             * @description Whose last attempt was answered with this status, or with one of this hundred: `503`, `5xx`.
             * @example 5xx
             */
            httpStatus?: string;
        };
        /** @enum {string} */
        ReplayableStatus: "delivered" | "failed" | "canceled" | "pending";
        LockReceiver: {
            /**
             * @description Why, in a sentence. The customer reads it. Never put in what he must not know.
             * @example Its host asked us to stop.
             */
            reason?: string;
        };
        PauseReceiver: {
            /**
             * @description Why, in a sentence. The customer reads it. Never put in what he must not know.
             * @example Its host asked us to stop.
             */
            reason?: string;
        };
        /**
         * @description Id of a delivery. The same on every try, another for every transition and endpoint.
         * @example dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq
         */
        DeliveryId: string;
        /**
         * @description Id of a replay.
         * @example rpl_0f1e2d3c4b5a69788796a5b4
         */
        ReplayId: string;
        CreateTask: {
            /** @description The input of the executor. Any JSON. */
            input?: unknown;
            callback?: components["schemas"]["TaskCallback"];
            /**
             * @description Where the Task runs. Default: the workspace itself. A key of the workspace can name only one that the platform has bound to it. Events go to the receivers of the workspace in any case.
             * @example ws_acme
             */
            executionWorkspaceId?: string;
        };
        /** @description A URL for the events of this Task, besides the receivers. Never listed with receivers. */
        TaskCallback: {
            url: components["schemas"]["EndpointUrl"];
            /** @description The events to send. Empty means every event. */
            events?: components["schemas"]["EventName"][];
            /** @description Headers of your own, sent with every delivery: at most 10, of 4096 bytes together. Values are visible ASCII, kept encrypted, and never shown again. None of those that Herald sends (`x-service-…`, `webhook-…`, `user-agent`, `traceparent`), none that changes the request or its connection (`host`, `content-…`, `accept-encoding`, …) or tells of proxies (`x-forwarded-…`). */
            headers?: {
                [key: string]: string;
            };
            ordering?: components["schemas"]["Ordering"];
            /**
             * @description How long an event waits for those before it. Then it is sent with the header `x-service-ordering: released`. Default: 86400, a day. It counts only with `ordering: "task"`.
             * @example 86400
             */
            orderingTimeoutSeconds?: number;
            /**
             * @deprecated
             * @description The former name of `orderingTimeoutSeconds`, as a text. How long an event waits for those before it, from 1m to 5d. Then it is sent with the header `x-service-ordering: released`. Default: 24h. It counts only with `ordering: "task"`.
             */
            orderingTimeout?: string;
        };
        /** @enum {string} */
        TaskStatus: "queued" | "running" | "requires_action" | "done" | "canceled";
        /**
         * @description Id of a Task.
         * @example task_01kes8t4a0q3m1y5b9z7x2c6vd
         */
        TaskId: string;
        /**
         * @example {
         *       "text": "The amount includes VAT."
         *     }
         */
        AddMessage: {
            text: string;
        };
        /**
         * @description Id of an approval request: the `approval_request.id` of the event.
         * @example pay
         */
        ApprovalId: string;
        /**
         * @example {
         *       "decision": "yes",
         *       "actionVersion": 1
         *     }
         */
        ResolveApproval: {
            /** @description Usually the id of a decision item. Any text is allowed. */
            decision: string;
            /** @description The `action_version` of the event that asked. */
            actionVersion: number;
        };
        CloseTask: {
            status: components["schemas"]["TerminalStatus"];
        };
        /** @enum {string} */
        TerminalStatus: "done" | "canceled";
        /** @description Omitted fields stay unchanged. A url of another origin removes the `headers`, unless they are given with it. `headers` replaces all of them, and `{}` removes them. */
        PatchCallback: {
            url?: components["schemas"]["EndpointUrl"];
            /** @description The events to send. Empty means every event. */
            events?: components["schemas"]["EventName"][];
            /** @description A disabled callback gets nothing. */
            enabled?: boolean;
            /** @description Headers of your own, sent with every delivery: at most 10, of 4096 bytes together. Values are visible ASCII, kept encrypted, and never shown again. None of those that Herald sends (`x-service-…`, `webhook-…`, `user-agent`, `traceparent`), none that changes the request or its connection (`host`, `content-…`, `accept-encoding`, …) or tells of proxies (`x-forwarded-…`). */
            headers?: {
                [key: string]: string;
            };
            ordering?: components["schemas"]["Ordering"];
            /**
             * @description How long an event waits for those before it. Then it is sent with the header `x-service-ordering: released`. Default: 86400, a day. It counts only with `ordering: "task"`.
             * @example 86400
             */
            orderingTimeoutSeconds?: number;
            /**
             * @deprecated
             * @description The former name of `orderingTimeoutSeconds`, as a text. How long an event waits for those before it, from 1m to 5d. Then it is sent with the header `x-service-ordering: released`. Default: 24h. It counts only with `ordering: "task"`.
             */
            orderingTimeout?: string;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly disabledAt?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly disabledReason?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly disabledBy?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly lockedReason?: unknown;
            /** @description From an answer that is sent back: it changes nothing. */
            readonly headerNames?: unknown;
        };
        /** @description One fact that the executor reports about a Task. */
        TransitionReport: components["schemas"]["StartReport"] | components["schemas"]["CheckpointReport"] | components["schemas"]["ActionRequiredReport"] | components["schemas"]["DoneReport"] | components["schemas"]["CanceledReport"];
        /** @description The Task runs. Emits nothing. */
        StartReport: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "start";
        };
        /** @description A point that the Task reached. Only a checkpoint that is `canonical` and `material` emits `task.check_in`, and it must have an `outcome`. Every other is recorded and emits nothing. It may come again under its id as canonical and material, and then emits once. */
        CheckpointReport: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "checkpoint";
            /**
             * @description One id is one fact: see `duplicate` in the answer.
             * @example cp_1
             */
            checkpointId: string;
            canonical: boolean;
            material: boolean;
            outcome?: components["schemas"]["Outcome"];
        };
        /**
         * @description The outcome of a piece of work. `summary` and `progress` are public-safe: webhooks and the customer get them. Every other field is kept for the executor and never leaves.
         * @example {
         *       "summary": "The invoice is drafted.",
         *       "progress": 0.5,
         *       "toolOutput": "kept, and never sent"
         *     }
         */
        Outcome: {
            /** @description Public-safe. */
            summary: string;
            /** @description Public-safe. From 0 to 1. */
            progress?: number;
        } & {
            [key: string]: unknown;
        };
        /** @description The Task waits for a decision. Emits `task.requires_action`. A higher `actionVersion` replaces the open action. A lower one is `stale_action_version`. */
        ActionRequiredReport: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "action_required";
            /**
             * @description Rises with every new action of the Task.
             * @example 1
             */
            actionVersion: number;
            approvalRequests: components["schemas"]["ApprovalRequest"][];
            /** @default [] */
            decisionItems?: components["schemas"]["DecisionItem"][];
            /** @description Whether a key of the workspace may resolve it. Executors, and keys with the scope `approvals:any`, always may. Left out: receivers are told false, and a key is not refused. Public-safe. */
            apiResolvable?: boolean;
            outcome: components["schemas"]["Outcome"];
        };
        /** @description Something that a person must approve. Webhooks carry the `id`, `title` and `description` of the primary request: these are public-safe. Every other field, and every other request, never leaves. */
        ApprovalRequest: {
            /** @description Names the request when it is resolved. Not `.` or `..`. Public-safe on the primary request. */
            id: string;
            /**
             * @description True on exactly one request. Resolving it sets the Task running.
             * @default false
             */
            primary?: boolean;
            /** @description Public-safe on the primary request. */
            title: string;
            /** @description Public-safe on the primary request. */
            description?: string;
        } & {
            [key: string]: unknown;
        };
        /** @description One of the answers to choose from. Webhooks carry its `id`, `label` and `description`: these are public-safe. Every other field never leaves. */
        DecisionItem: {
            /** @description Public-safe. */
            id: string;
            /** @description Public-safe. */
            label: string;
            /** @description Public-safe. */
            description?: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The Task is done. Emits `task.done`, which carries none of these fields. A canceled Task refuses it, and keeps only its usage. */
        DoneReport: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "done";
            /** @description Any JSON. Read it with `GET /tasks/{id}`. Webhooks never carry it. */
            result?: unknown;
            outcome?: components["schemas"]["Outcome"];
            /** @description Any JSON. Read it with `GET /tasks/{id}`. Webhooks never carry it. */
            usage?: unknown;
        };
        /** @description The Task is canceled. Emits `task.canceled`. */
        CanceledReport: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "canceled";
        };
        TransitionBatch: {
            transitions: components["schemas"]["BatchItem"][];
        };
        /** @description A report, and the Task it is about. */
        BatchItem: components["schemas"]["StartItem"] | components["schemas"]["CheckpointItem"] | components["schemas"]["ActionRequiredItem"] | components["schemas"]["DoneItem"] | components["schemas"]["CanceledItem"];
        StartItem: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "start";
            taskId: string;
        };
        CheckpointItem: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "checkpoint";
            /**
             * @description One id is one fact: see `duplicate` in the answer.
             * @example cp_1
             */
            checkpointId: string;
            canonical: boolean;
            material: boolean;
            outcome?: components["schemas"]["Outcome"];
            taskId: string;
        };
        ActionRequiredItem: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "action_required";
            /**
             * @description Rises with every new action of the Task.
             * @example 1
             */
            actionVersion: number;
            approvalRequests: components["schemas"]["ApprovalRequest"][];
            /** @default [] */
            decisionItems?: components["schemas"]["DecisionItem"][];
            /** @description Whether a key of the workspace may resolve it. Executors, and keys with the scope `approvals:any`, always may. Left out: receivers are told false, and a key is not refused. Public-safe. */
            apiResolvable?: boolean;
            outcome: components["schemas"]["Outcome"];
            taskId: string;
        };
        DoneItem: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "done";
            /** @description Any JSON. Read it with `GET /tasks/{id}`. Webhooks never carry it. */
            result?: unknown;
            outcome?: components["schemas"]["Outcome"];
            /** @description Any JSON. Read it with `GET /tasks/{id}`. Webhooks never carry it. */
            usage?: unknown;
            taskId: string;
        };
        CanceledItem: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "canceled";
            taskId: string;
        };
        CreatePortalLink: {
            /**
             * @description How long it works. It never works longer than the API key that made it.
             * @default 3600
             */
            expiresInSeconds?: number;
            /**
             * @description Whether the link can only read.
             * @default false
             */
            readOnly?: boolean;
        };
        /**
         * @description Id of a portal link. It lets nobody in: the token does.
         * @example plk_0f1e2d3c4b5a6978
         */
        PortalLinkId: string;
        CreateWorkspaceKey: {
            /**
             * @description Default: `webhooks` and `tasks`. `approvals:any` adds to `tasks`, and is refused without.
             * @default [
             *       "webhooks",
             *       "tasks"
             *     ]
             */
            scopes?: components["schemas"]["WorkspaceScope"][];
            /**
             * @description What it is for. Shown in lists.
             * @example billing, production
             */
            name?: string;
            /** @description How long it works. Without it, until it is revoked. */
            expiresInSeconds?: number;
        };
        /** @enum {string} */
        WorkspaceScope: "webhooks" | "tasks" | "approvals:any";
        /**
         * @description Id of an API key. It lets nobody in: the key does.
         * @example key_0123456789abcdef
         */
        ApiKeyId: string;
        /**
         * @example {
         *       "executionWorkspaceId": "ws_acme-runs"
         *     }
         */
        BindExecutionWorkspace: {
            /** @example ws_acme */
            executionWorkspaceId: string;
        };
        /** @enum {string} */
        OverviewWindow: "1h" | "24h";
        OpenWorkspace: {
            /**
             * @description Whether the link can only read.
             * @default false
             */
            readOnly?: boolean;
        };
        /**
         * @example {
         *       "id": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "created_at": "2030-01-31T12:00:00.000Z",
         *       "sequence": 3,
         *       "event": "task.check_in",
         *       "task": {
         *         "id": "task_01kes8t4a0q3m1y5b9z7x2c6vd",
         *         "status": "running"
         *       },
         *       "outcome": {
         *         "summary": "The invoice is drafted.",
         *         "progress": 0.5
         *       }
         *     }
         */
        CheckInPayload: {
            id: components["schemas"]["TransitionId"];
            /** @constant */
            event: "task.check_in";
            /**
             * Format: date-time
             * @description When the transition was accepted.
             */
            created_at: string;
            /** @description Rises with every event of a Task. Deliveries may arrive in another order. */
            sequence: number;
            task: components["schemas"]["CheckInTask"];
            outcome: components["schemas"]["PublicOutcome"];
        };
        /**
         * @description Id of a transition. Every path that reports the same fact yields the same id.
         * @example trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw
         */
        TransitionId: string;
        /** @description The Task, with its status at that time. */
        CheckInTask: {
            id: components["schemas"]["AnyTaskId"];
            status: "running" | "requires_action";
        };
        /**
         * @description Id of a Task. That of a sample begins with `task_sample`; no Task ever has such an id.
         * @example task_01kes8t4a0q3m1y5b9z7x2c6vd
         */
        AnyTaskId: string;
        /**
         * @description The public-safe part of an outcome.
         * @example {
         *       "summary": "The invoice is drafted.",
         *       "progress": 0.5
         *     }
         */
        PublicOutcome: {
            summary: string;
            /** @description From 0 to 1. */
            progress?: number;
        };
        /**
         * @example {
         *       "id": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "created_at": "2030-01-31T12:00:00.000Z",
         *       "sequence": 3,
         *       "event": "task.requires_action",
         *       "task": {
         *         "id": "task_01kes8t4a0q3m1y5b9z7x2c6vd",
         *         "status": "requires_action"
         *       },
         *       "outcome": {
         *         "summary": "The invoice is drafted.",
         *         "progress": 0.5
         *       },
         *       "approval_request": {
         *         "id": "pay",
         *         "title": "Pay the invoice",
         *         "description": "12 EUR"
         *       },
         *       "action_version": 1,
         *       "decision_items": [
         *         {
         *           "id": "yes",
         *           "label": "Pay"
         *         },
         *         {
         *           "id": "no",
         *           "label": "Refuse"
         *         }
         *       ],
         *       "api_resolvable": true,
         *       "action_url": "https://app.example.com/tasks/task_01kes8t4a0q3m1y5b9z7x2c6vd/actions/1"
         *     }
         */
        RequiresActionPayload: {
            id: components["schemas"]["TransitionId"];
            /** @constant */
            event: "task.requires_action";
            /**
             * Format: date-time
             * @description When the transition was accepted.
             */
            created_at: string;
            /** @description Rises with every event of a Task. Deliveries may arrive in another order. */
            sequence: number;
            task: components["schemas"]["RequiresActionTask"];
            outcome: components["schemas"]["PublicOutcome"];
            approval_request: components["schemas"]["PublicApprovalRequest"];
            /** @description Send it back when you resolve the request. */
            action_version: number;
            decision_items: components["schemas"]["PublicDecisionItem"][];
            /** @description Whether a key of the workspace may answer it with `POST /tasks/{id}/approvals/{approvalId}/resolve`. False: somebody acts on the page of `action_url`. */
            api_resolvable: boolean;
            /**
             * Format: uri
             * @description A page where a person signs in and acts. It carries no credential.
             */
            action_url: string;
        };
        /** @description The Task, with its status at that time. */
        RequiresActionTask: {
            id: components["schemas"]["AnyTaskId"];
            status: "requires_action";
        };
        /** @description The public-safe part of the primary approval request. */
        PublicApprovalRequest: {
            id: string;
            title: string;
            description?: string;
        };
        /** @description The public-safe part of a decision item. */
        PublicDecisionItem: {
            id: string;
            label: string;
            description?: string;
        };
        /**
         * @example {
         *       "id": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "created_at": "2030-01-31T12:00:00.000Z",
         *       "sequence": 3,
         *       "event": "task.done",
         *       "task": {
         *         "id": "task_01kes8t4a0q3m1y5b9z7x2c6vd",
         *         "status": "done"
         *       }
         *     }
         */
        DonePayload: {
            id: components["schemas"]["TransitionId"];
            /** @constant */
            event: "task.done";
            /**
             * Format: date-time
             * @description When the transition was accepted.
             */
            created_at: string;
            /** @description Rises with every event of a Task. Deliveries may arrive in another order. */
            sequence: number;
            task: components["schemas"]["DoneTask"];
        };
        /** @description The Task, with its status at that time. */
        DoneTask: {
            id: components["schemas"]["AnyTaskId"];
            status: "done";
        };
        /**
         * @example {
         *       "id": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "created_at": "2030-01-31T12:00:00.000Z",
         *       "sequence": 3,
         *       "event": "task.canceled",
         *       "task": {
         *         "id": "task_01kes8t4a0q3m1y5b9z7x2c6vd",
         *         "status": "canceled"
         *       }
         *     }
         */
        CanceledPayload: {
            id: components["schemas"]["TransitionId"];
            /** @constant */
            event: "task.canceled";
            /**
             * Format: date-time
             * @description When the transition was accepted.
             */
            created_at: string;
            /** @description Rises with every event of a Task. Deliveries may arrive in another order. */
            sequence: number;
            task: components["schemas"]["CanceledTask"];
        };
        /** @description The Task, with its status at that time. */
        CanceledTask: {
            id: components["schemas"]["AnyTaskId"];
            status: "canceled";
        };
        /**
         * @example {
         *       "id": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "event": "webhook.test",
         *       "created_at": "2030-01-31T12:00:00.000Z"
         *     }
         */
        TestPayload: {
            id: components["schemas"]["TransitionId"];
            /** @constant */
            event: "webhook.test";
            /**
             * Format: date-time
             * @description When the transition was accepted.
             */
            created_at: string;
        };
        /**
         * @example {
         *       "id": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "created_at": "2030-01-31T12:00:00.000Z",
         *       "workspace_id": "ws_acme",
         *       "since": "2030-01-31T10:58:12.345Z",
         *       "last_attempt": {
         *         "delivery_id": "dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
         *         "at": "2030-01-31T11:59:59.900Z",
         *         "status": 503
         *       },
         *       "event": "receiver.failing",
         *       "receiver": {
         *         "id": "wh_01kes8t4a0q3m1y5b9z7x2c6vd",
         *         "url": "https://hooks.example.com/herald"
         *       },
         *       "failures": 5
         *     }
         */
        ReceiverFailingPayload: {
            /** @description Id of the fact. */
            id: components["schemas"]["TransitionId"];
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workspace that the receiver or the callback belongs to. */
            workspace_id: string;
            /**
             * Format: date-time
             * @description The first failure since the last success.
             */
            since: string;
            last_attempt: components["schemas"]["NoticeAttempt"];
            /** @constant */
            event: "receiver.failing";
            receiver: components["schemas"]["NoticeReceiver"];
            /** @description Failures in a row. */
            failures: number;
        };
        /** @description The attempt that made it a fact. */
        NoticeAttempt: {
            delivery_id: components["schemas"]["DeliveryId"];
            /** Format: date-time */
            at: string;
            /** @description The endpoint's HTTP status. */
            status?: number;
            /** @description Why no status came: the `error` of an attempt. */
            error?: "address_blocked" | "dns_name_unknown" | "dns_no_address" | "dns_servers_failed" | "connection_refused" | "connection_reset" | "host_unreachable" | "connection_failed" | "tls_expired" | "tls_not_yet_valid" | "tls_name_mismatch" | "tls_self_signed" | "tls_unknown_issuer" | "tls_incomplete_chain" | "tls_weak_certificate" | "tls_wrong_purpose" | "tls_protocol" | "tls_client_certificate" | "tls_reset" | "tls_not_tls" | "tls_failed" | "malformed_answer" | "timeout_lookup" | "timeout_connect" | "timeout_tls" | "timeout_response" | "dns_failed" | "tls_untrusted" | "timeout_body";
        };
        NoticeReceiver: {
            id: components["schemas"]["ReceiverId"];
            /** @description As its owner gave it. It may hold a token of theirs: mail only its host. */
            url: string;
        };
        /**
         * @example {
         *       "id": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "created_at": "2030-01-31T12:00:00.000Z",
         *       "workspace_id": "ws_acme",
         *       "since": "2030-01-31T10:58:12.345Z",
         *       "last_attempt": {
         *         "delivery_id": "dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
         *         "at": "2030-01-31T11:59:59.900Z",
         *         "status": 503
         *       },
         *       "event": "receiver.disabled",
         *       "receiver": {
         *         "id": "wh_01kes8t4a0q3m1y5b9z7x2c6vd",
         *         "url": "https://hooks.example.com/herald"
         *       },
         *       "reason": "failing",
         *       "failures": 12
         *     }
         */
        ReceiverDisabledPayload: {
            /** @description Id of the fact. */
            id: components["schemas"]["TransitionId"];
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workspace that the receiver or the callback belongs to. */
            workspace_id: string;
            /**
             * Format: date-time
             * @description The first failure since the last success.
             */
            since: string;
            last_attempt: components["schemas"]["NoticeAttempt"];
            /** @constant */
            event: "receiver.disabled";
            receiver: components["schemas"]["NoticeReceiver"];
            /** @description `gone`: it answered 410. `failing`: ten failures in a row over the time that the service allows. */
            reason: "gone" | "failing";
            /** @description Failures in a row. */
            failures: number;
        };
        /**
         * @example {
         *       "id": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "created_at": "2030-01-31T12:00:00.000Z",
         *       "workspace_id": "ws_acme",
         *       "since": "2030-01-31T10:58:12.345Z",
         *       "last_attempt": {
         *         "delivery_id": "dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
         *         "at": "2030-01-31T11:59:59.900Z",
         *         "status": 204
         *       },
         *       "event": "receiver.recovered",
         *       "receiver": {
         *         "id": "wh_01kes8t4a0q3m1y5b9z7x2c6vd",
         *         "url": "https://hooks.example.com/herald"
         *       }
         *     }
         */
        ReceiverRecoveredPayload: {
            /** @description Id of the fact. */
            id: components["schemas"]["TransitionId"];
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workspace that the receiver or the callback belongs to. */
            workspace_id: string;
            /**
             * Format: date-time
             * @description The first failure since the last success.
             */
            since: string;
            last_attempt: components["schemas"]["NoticeAttempt"];
            /** @constant */
            event: "receiver.recovered";
            receiver: components["schemas"]["NoticeReceiver"];
        };
        /**
         * @example {
         *       "id": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "created_at": "2030-01-31T12:00:00.000Z",
         *       "workspace_id": "ws_acme",
         *       "since": "2030-01-31T10:58:12.345Z",
         *       "last_attempt": {
         *         "delivery_id": "dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
         *         "at": "2030-01-31T11:59:59.900Z",
         *         "status": 503
         *       },
         *       "event": "callback.disabled",
         *       "callback": {
         *         "id": "cb_01kes8t4a0q3m1y5b9z7x2c6vd",
         *         "url": "https://hooks.example.com/invoice-42",
         *         "task_id": "task_01kes8t4a0q3m1y5b9z7x2c6vd"
         *       },
         *       "reason": "gone",
         *       "failures": 1
         *     }
         */
        CallbackDisabledPayload: {
            /** @description Id of the fact. */
            id: components["schemas"]["TransitionId"];
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workspace that the receiver or the callback belongs to. */
            workspace_id: string;
            /**
             * Format: date-time
             * @description The first failure since the last success.
             */
            since: string;
            last_attempt: components["schemas"]["NoticeAttempt"];
            /** @constant */
            event: "callback.disabled";
            callback: components["schemas"]["NoticeCallback"];
            /** @description `gone`: it answered 410. `failing`: ten failures in a row over the time that the service allows. */
            reason: "gone" | "failing";
            /** @description Failures in a row. */
            failures: number;
        };
        NoticeCallback: {
            id: components["schemas"]["CallbackId"];
            /** @description As its owner gave it. It may hold a token of theirs: mail only its host. */
            url: string;
            task_id: components["schemas"]["TaskId"];
        };
        /**
         * @description Id of a Task's callback: the id of the Task with another prefix.
         * @example cb_01kes8t4a0q3m1y5b9z7x2c6vd
         */
        CallbackId: string;
        /** @description Problem details (RFC 9457), as `application/problem+json`. */
        Problem: {
            /**
             * Format: uri-reference
             * @description The page that explains the code, at the origin of the service.
             * @example /errors#problems-task_closed
             */
            type: string;
            title: string;
            status: number;
            /** @description For people: what to change. */
            detail: string;
            code: components["schemas"]["ProblemCode"];
            /** @description Only of `validation_failed`. */
            errors?: components["schemas"]["InputProblem"][];
            /** @description The `x-request-id` of the answer. It finds the request in the log of the service. */
            requestId: string;
        };
        /**
         * @description Stable. For programs.
         *
         *     - `invalid_json`: The body is not valid JSON, or ended early.
         *     - `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
         *     - `unauthenticated`: The API key, or the portal link, is missing, unknown, expired or revoked.
         *     - `insufficient_scope`: The API key lacks the scope of the operation, or a portal link may not use it.
         *     - `foreign_origin`: A page of another site asked for a change on the operator pages.
         *     - `route_not_found`: There is nothing at this path.
         *     - `method_not_allowed`: The path doesn't have this method.
         *     - `request_timeout`: The request took too long to arrive.
         *     - `idempotency_conflict`: This `Idempotency-Key` came with another body.
         *     - `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
         *     - `payload_too_large`: The body is larger than 256 KiB, or a batch than 4 MiB.
         *     - `unsupported_media_type`: The body is not `application/json` in UTF-8, or is compressed.
         *     - `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
         *     - `headers_too_large`: The request line and headers are larger than 16 KiB together.
         *     - `internal`: An internal error. The request id finds it in the log of the service.
         *     - `workspace_not_found`: Nothing is known of such a workspace.
         *     - `receiver_not_found`: The workspace has no such receiver.
         *     - `task_not_found`: The workspace has no such Task.
         *     - `approval_not_found`: The current action of the Task has no such approval request.
         *     - `callback_not_found`: The Task has no callback.
         *     - `delivery_not_found`: The workspace has no such delivery.
         *     - `replay_not_found`: The workspace has no such replay.
         *     - `portal_link_not_found`: The workspace has no such portal link: it has ended, or there never was one.
         *     - `key_not_found`: The workspace has no such API key: it has ended, or there never was one.
         *     - `workspace_not_bound`: A key of a workspace named an execution workspace that is neither its own nor one that the platform has bound to it.
         *     - `key_limit_reached`: The workspace already has as many API keys as the platform may make for it.
         *     - `binding_limit_reached`: The workspace is already bound to as many execution workspaces as it may be.
         *     - `receiver_limit_reached`: The workspace already has as many receivers as it may.
         *     - `replay_limit_reached`: The workspace already has as many replays under way as it may.
         *     - `listener_limit_reached`: As many listen to the workspace as may.
         *     - `portal_link_limit_reached`: The workspace already has as many portal links as it may.
         *     - `receiver_disabled`: The receiver or the callback is disabled.
         *     - `receiver_locked`: The platform disabled the receiver or the callback, and locked it. It stays as it is, and nothing is sent to it.
         *     - `invalid_transition`: The Task's state doesn't allow it.
         *     - `task_closed`: The Task is done or canceled and takes nothing more.
         *     - `task_open`: The Task is not done or canceled yet.
         *     - `payload_erased`: The payload of the delivery was erased.
         *     - `payload_not_kept`: The payload of the delivery is no longer kept: the service keeps none in its history.
         *     - `not_api_resolvable`: The `api_resolvable` of the action is false: a key of its workspace may not resolve it.
         *     - `stale_action_version`: Another action version is the current one.
         *     - `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
         *     - `precondition_failed`: The receiver was changed since its `ETag` was read, or the request has an `If-Match` where nothing has an `ETag`.
         *     - `validation_failed`: The input breaks rules. Nothing was changed.
         *     - `unavailable`: Redis, or the workers, cannot be reached now.
         *     - `history_unavailable`: The history of deliveries (PostgreSQL) cannot be reached now. What is in Redis is still answered.
         */
        ProblemCode: "invalid_json" | "malformed_request" | "unauthenticated" | "insufficient_scope" | "foreign_origin" | "route_not_found" | "method_not_allowed" | "request_timeout" | "idempotency_conflict" | "request_in_progress" | "payload_too_large" | "unsupported_media_type" | "rate_limited" | "headers_too_large" | "internal" | "workspace_not_found" | "receiver_not_found" | "task_not_found" | "approval_not_found" | "callback_not_found" | "delivery_not_found" | "replay_not_found" | "portal_link_not_found" | "key_not_found" | "workspace_not_bound" | "key_limit_reached" | "binding_limit_reached" | "receiver_limit_reached" | "replay_limit_reached" | "listener_limit_reached" | "portal_link_limit_reached" | "receiver_disabled" | "receiver_locked" | "invalid_transition" | "task_closed" | "task_open" | "payload_erased" | "payload_not_kept" | "not_api_resolvable" | "stale_action_version" | "workspace_full" | "precondition_failed" | "validation_failed" | "unavailable" | "history_unavailable";
        InputProblem: {
            /** @description The place in the input, keys joined by dots. Empty: all of it. */
            path: string;
            /**
             * @description The place as a JSON pointer.
             * @example /callback/url
             */
            pointer: string;
            /** @description Stable. For programs. */
            code: "required" | "unknown" | "wrong_type" | "not_allowed" | "too_long" | "too_short" | "too_large" | "too_small" | "conflict" | "invalid";
            /** @description For people: what to change. */
            message: string;
        };
        ReceiverList: {
            webhooks: components["schemas"]["Receiver"][];
            /** @description All valid event names. */
            events: components["schemas"]["EventNameInAnswer"][];
        };
        /**
         * @description A URL to which Herald sends the events of a workspace.
         * @example {
         *       "id": "wh_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "url": "https://hooks.example.com/herald",
         *       "events": [
         *         "task.done",
         *         "task.canceled"
         *       ],
         *       "description": "Billing, production",
         *       "enabled": true,
         *       "ordering": "none",
         *       "orderingTimeoutSeconds": 86400,
         *       "orderingTimeout": "24h",
         *       "rateLimit": null,
         *       "createdAt": "2030-01-31T12:00:00.000Z",
         *       "headerNames": [
         *         "authorization"
         *       ],
         *       "maxRetryHours": 72,
         *       "health": {
         *         "state": "healthy",
         *         "since": "2030-01-31T12:00:00.000Z",
         *         "consecutiveFailures": 0,
         *         "backlog": 0,
         *         "lastSuccessAt": "2030-02-01T08:30:00.000Z"
         *       }
         *     }
         */
        Receiver: {
            id: components["schemas"]["ReceiverId"];
            url: string;
            /** @description Empty means every event. */
            events: components["schemas"]["EventNameInAnswer"][];
            description: string;
            enabled: boolean;
            /** @description `task`: the events of one Task go one after the other, in the order of their `sequence`. */
            ordering: "none" | "task";
            /**
             * @description How long an event waits for those before it, if `ordering` is `task`.
             * @example 86400
             */
            orderingTimeoutSeconds: number;
            /**
             * @deprecated
             * @description The former name of `orderingTimeoutSeconds`, as a text.
             * @example 24h
             */
            orderingTimeout: string;
            rateLimit: components["schemas"]["RateLimitInAnswer"] | null;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            disabledAt?: string;
            /** @description `by_request`: somebody disabled it. `locked`: the platform disabled it, and only the platform enables it again. `gone`: it answered 410. `failing`: it failed for too long without one success. */
            disabledReason?: "by_request" | "locked" | "gone" | "failing";
            /**
             * @description Who disabled it: the id of an API key (`key_…`) or of a portal link (`plk_…`), `platform` for whoever runs the service, or `herald` by itself. Absent when that was not noted yet.
             * @example platform
             */
            disabledBy?: string;
            /** @description What the platform says about a lock. Absent when it says nothing. */
            lockedReason?: string;
            /**
             * Format: date-time
             * @description Since when the platform holds back what is sent to it. Only the platform lets it go on. Absent: it does not.
             * @example 2030-01-31T12:00:00.000Z
             */
            pausedAt?: string;
            /** @description What the platform says about the pause. Absent when it says nothing. */
            pausedReason?: string;
            /**
             * @description Names of the `headers` that it was given. Their values are never shown. Absent without any.
             * @example [
             *       "authorization"
             *     ]
             */
            headerNames?: string[];
            maxRetryHours: number | null;
            /**
             * Format: date-time
             * @description Its secret was rotated: until then `x-service-signature` is made with the old one, and `webhook-signature` with both. Absent: one secret alone is in force.
             * @example 2030-01-31T12:00:00.000Z
             */
            secretOverlapEndsAt?: string;
            /** @description What may be a mistake in what was just set. Absent without any, and when it is only read. */
            warnings?: components["schemas"]["ReceiverWarning"][];
            health: components["schemas"]["ReceiverHealth"];
        };
        ReceiverWarning: {
            /** @description `same_url`: another receiver of the workspace has this URL. */
            code: "same_url";
            detail: string;
        };
        ReceiverHealth: {
            /** @description `failing`: the last attempt failed. `paused`: the receiver gave no answers, or sent `Retry-After`, or the platform has paused it (`pausedAt`); deliveries wait. `disabled`: nothing is sent. */
            state: "healthy" | "failing" | "paused" | "disabled";
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            since: string;
            consecutiveFailures: number;
            /** @description Its last attempt that failed. Absent after a success, and when nothing has failed. */
            lastFailure?: {
                /**
                 * Format: date-time
                 * @description An RFC 3339 time in UTC.
                 * @example 2030-01-31T12:00:00.000Z
                 */
                at: string;
                status?: number;
                error?: components["schemas"]["AttemptError"];
            };
            /**
             * Format: date-time
             * @description Until then nothing is sent, because its `Retry-After` asked for that. Absent: it does not.
             * @example 2030-01-31T12:00:00.000Z
             */
            pausedUntil?: string;
            /**
             * Format: date-time
             * @description When one delivery is sent to see whether it answers again, after several without an answer in a row. Absent: it answers, or is not known not to.
             * @example 2030-01-31T12:00:00.000Z
             */
            nextProbeAt?: string;
            /** @description Its own due deliveries that wait. */
            backlog: number;
            /** @description How many of its due deliveries wait because of `rateLimit`; `backlog` counts them too. Absent when none does. */
            waitingForRate?: number;
            lastSuccessAt: string | null;
        };
        /**
         * @description Why no usable answer came.
         *
         *     - `address_blocked`: The URL leads to an address that isn't public, or to a port of another protocol.
         *     - `dns_name_unknown`: The host name doesn't exist.
         *     - `dns_no_address`: The host name exists, and has no address.
         *     - `dns_servers_failed`: The name servers of the domain fail, or refuse to answer.
         *     - `connection_refused`: Nothing listens at the port of the URL.
         *     - `connection_reset`: The connection was closed before the headers of the answer were complete.
         *     - `host_unreachable`: No route leads to the address of the host.
         *     - `connection_failed`: The connection failed in another way.
         *     - `tls_expired`: The certificate, or one that it depends on, has expired.
         *     - `tls_not_yet_valid`: The certificate, or one that it depends on, isn't valid yet.
         *     - `tls_name_mismatch`: The certificate is for another host.
         *     - `tls_self_signed`: The certificate is self-signed.
         *     - `tls_unknown_issuer`: The certificate leads to an authority that isn't trusted.
         *     - `tls_incomplete_chain`: The server sent its certificate without the one that issued it, and the issuer isn't a trusted authority by itself.
         *     - `tls_weak_certificate`: The key of the certificate, or of one that it depends on, is too short, or its digest too weak.
         *     - `tls_wrong_purpose`: The certificate is not one for servers.
         *     - `tls_protocol`: The server has no version of TLS, no cipher or no HTTP version in common with Herald.
         *     - `tls_client_certificate`: The server asks for a client certificate. Herald has none.
         *     - `tls_reset`: The connection was closed during the TLS handshake.
         *     - `tls_not_tls`: The server doesn't speak TLS at this port.
         *     - `tls_failed`: The TLS handshake failed in another way.
         *     - `malformed_answer`: The answer is not HTTP/1.1, has more than 64 KiB of headers or 32 answers of 1xx before it, or a status that is not from 100 to 599; or the server sends something else without end.
         *     - `timeout_lookup`: The host name wasn't resolved in time: the name servers of the domain gave no answer.
         *     - `timeout_connect`: The deadline passed before the server accepted the connection.
         *     - `timeout_tls`: The deadline passed during the TLS handshake.
         *     - `timeout_response`: The deadline passed before the headers of the answer came.
         *     - `dns_failed`: The host name had no address. Releases up to 0.2 said so of every look-up that failed.
         *     - `tls_untrusted`: The certificate didn't lead to a trusted authority. Releases up to 0.2 said so of self-signed ones and of incomplete chains too.
         *     - `timeout_body`: The deadline passed before the body of the answer ended. Releases up to 0.2 took that for a failure; today the status decides.
         */
        AttemptError: "address_blocked" | "dns_name_unknown" | "dns_no_address" | "dns_servers_failed" | "connection_refused" | "connection_reset" | "host_unreachable" | "connection_failed" | "tls_expired" | "tls_not_yet_valid" | "tls_name_mismatch" | "tls_self_signed" | "tls_unknown_issuer" | "tls_incomplete_chain" | "tls_weak_certificate" | "tls_wrong_purpose" | "tls_protocol" | "tls_client_certificate" | "tls_reset" | "tls_not_tls" | "tls_failed" | "malformed_answer" | "timeout_lookup" | "timeout_connect" | "timeout_tls" | "timeout_response" | "dns_failed" | "tls_untrusted" | "timeout_body";
        /** @description Without the secret only when the answer is repeated for its `Idempotency-Key`. */
        ReceiverRegistration: components["schemas"]["RegisteredReceiver"] | components["schemas"]["Receiver"];
        /**
         * @description A new receiver. Its signing secret is shown only in this answer.
         * @example {
         *       "id": "wh_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "url": "https://hooks.example.com/herald",
         *       "events": [
         *         "task.done",
         *         "task.canceled"
         *       ],
         *       "description": "Billing, production",
         *       "enabled": true,
         *       "ordering": "none",
         *       "orderingTimeoutSeconds": 86400,
         *       "orderingTimeout": "24h",
         *       "rateLimit": null,
         *       "createdAt": "2030-01-31T12:00:00.000Z",
         *       "headerNames": [
         *         "authorization"
         *       ],
         *       "maxRetryHours": 72,
         *       "health": {
         *         "state": "healthy",
         *         "since": "2030-01-31T12:00:00.000Z",
         *         "consecutiveFailures": 0,
         *         "backlog": 0,
         *         "lastSuccessAt": "2030-02-01T08:30:00.000Z"
         *       },
         *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
         *     }
         */
        RegisteredReceiver: {
            id: components["schemas"]["ReceiverId"];
            url: string;
            /** @description Empty means every event. */
            events: components["schemas"]["EventNameInAnswer"][];
            description: string;
            enabled: boolean;
            /** @description `task`: the events of one Task go one after the other, in the order of their `sequence`. */
            ordering: "none" | "task";
            /**
             * @description How long an event waits for those before it, if `ordering` is `task`.
             * @example 86400
             */
            orderingTimeoutSeconds: number;
            /**
             * @deprecated
             * @description The former name of `orderingTimeoutSeconds`, as a text.
             * @example 24h
             */
            orderingTimeout: string;
            rateLimit: components["schemas"]["RateLimitInAnswer"] | null;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            disabledAt?: string;
            /** @description `by_request`: somebody disabled it. `locked`: the platform disabled it, and only the platform enables it again. `gone`: it answered 410. `failing`: it failed for too long without one success. */
            disabledReason?: "by_request" | "locked" | "gone" | "failing";
            /**
             * @description Who disabled it: the id of an API key (`key_…`) or of a portal link (`plk_…`), `platform` for whoever runs the service, or `herald` by itself. Absent when that was not noted yet.
             * @example platform
             */
            disabledBy?: string;
            /** @description What the platform says about a lock. Absent when it says nothing. */
            lockedReason?: string;
            /**
             * Format: date-time
             * @description Since when the platform holds back what is sent to it. Only the platform lets it go on. Absent: it does not.
             * @example 2030-01-31T12:00:00.000Z
             */
            pausedAt?: string;
            /** @description What the platform says about the pause. Absent when it says nothing. */
            pausedReason?: string;
            /**
             * @description Names of the `headers` that it was given. Their values are never shown. Absent without any.
             * @example [
             *       "authorization"
             *     ]
             */
            headerNames?: string[];
            maxRetryHours: number | null;
            /**
             * Format: date-time
             * @description Its secret was rotated: until then `x-service-signature` is made with the old one, and `webhook-signature` with both. Absent: one secret alone is in force.
             * @example 2030-01-31T12:00:00.000Z
             */
            secretOverlapEndsAt?: string;
            /** @description What may be a mistake in what was just set. Absent without any, and when it is only read. */
            warnings?: components["schemas"]["ReceiverWarning"][];
            health: components["schemas"]["ReceiverHealth"];
            /**
             * @description The signing secret, shown only in this answer.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
        };
        ReceiverDeleted: {
            deleted: boolean;
        };
        /**
         * @example {
         *       "delivered": true,
         *       "receiverStatus": 200,
         *       "answer": "ok",
         *       "deliveryId": "dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
         *       "durationMs": 41
         *     }
         */
        TestOutcome: {
            /** @description Whether the receiver answered with a 2xx. */
            delivered: boolean;
            /** @description Null when no status came. */
            receiverStatus: number | null;
            /**
             * @description Why no status came: the code of the attempt, or the reason why none was made. Else absent.
             * @example timeout_response
             */
            error?: "address_blocked" | "dns_name_unknown" | "dns_no_address" | "dns_servers_failed" | "connection_refused" | "connection_reset" | "host_unreachable" | "connection_failed" | "tls_expired" | "tls_not_yet_valid" | "tls_name_mismatch" | "tls_self_signed" | "tls_unknown_issuer" | "tls_incomplete_chain" | "tls_weak_certificate" | "tls_wrong_purpose" | "tls_protocol" | "tls_client_certificate" | "tls_reset" | "tls_not_tls" | "tls_failed" | "malformed_answer" | "timeout_lookup" | "timeout_connect" | "timeout_tls" | "timeout_response" | "dns_failed" | "tls_untrusted" | "timeout_body" | "schedule_exhausted" | "too_old" | "test_failed" | "receiver_disabled" | "receiver_removed" | "not_sent_in_time" | "canceled_by_operator" | "payload_erased" | "body_lost";
            /** @description The first 1 KiB of the answer, as it came. Escape it before you show it. Invalid UTF-8 is U+FFFD. Absent when it was empty. */
            answer?: string;
            bodyNote?: components["schemas"]["BodyNote"];
            deliveryId: components["schemas"]["DeliveryId"];
            /** @description From the first look-up to the end of the answer. Absent when nothing was sent. */
            durationMs?: number;
        };
        /**
         * @description What was odd about the answer. It changes nothing: the status decides. Absent when nothing was.
         *
         *     - `odd_headers`: Its headers broke rules of HTTP/1.1: a length twice or beside chunks, a folded line, a line that ends with LF alone, blanks around a name, or another version.
         *     - `body_not_allowed`: A 204, 205 or 304 came with a body, or announced one.
         *     - `extra_bytes`: It sent more bytes than it said.
         *     - `body_malformed`: Its body was not in the chunks that it announced.
         *     - `body_cut`: The connection was closed before its body was complete.
         *     - `body_stalled`: Its body had not ended when the deadline passed.
         *     - `body_too_long`: Its body was longer than 64 KiB, or came in thousands of parts. The rest was not read.
         */
        BodyNote: "odd_headers" | "body_not_allowed" | "extra_bytes" | "body_malformed" | "body_cut" | "body_stalled" | "body_too_long";
        /** @description Without the secret only when the answer is repeated for its `Idempotency-Key`. */
        SecretRotation: components["schemas"]["SecretRotated"] | components["schemas"]["RepeatedRotation"];
        SecretRotated: {
            /**
             * @description The signing secret, shown only in this answer.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
            /** @description Until then `x-service-signature` is made with the old secret, and `webhook-signature` with both. Null: the new one alone is in force. */
            overlapEndsAt: string | null;
        };
        /** @description The answer to a rotation, repeated for its `Idempotency-Key`. */
        RepeatedRotation: {
            /** @description Until then `x-service-signature` is made with the old secret, and `webhook-signature` with both. Null: the new one alone is in force. */
            overlapEndsAt: string | null;
        };
        DeliveryPage: {
            deliveries: components["schemas"]["Delivery"][];
            /** @description The `cursor` of the next page. Null on the last one. */
            nextCursor: string | null;
            /** @description Keep it for the next look: as `sinceCursor`, it lists what has come since. On the first page of a list; absent when the history could not be reached. */
            sinceCursor?: string;
            /** @description The history could not be reached: deliveries may be missing in this page. */
            historyUnavailable?: boolean;
        };
        /**
         * @description One transition for one endpoint.
         * @example {
         *       "id": "dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
         *       "event": "task.done",
         *       "status": "delivered",
         *       "receiverId": "wh_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "callbackId": null,
         *       "endpointId": "wh_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "transitionId": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "taskId": "task_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "createdAt": "2030-01-31T12:00:00.000Z",
         *       "tries": 2,
         *       "nextAttemptAt": null,
         *       "settledAt": "2030-01-31T12:00:05.351Z",
         *       "lastAttempt": {
         *         "at": "2030-01-31T12:00:05.310Z",
         *         "durationMs": 41,
         *         "status": 204
         *       }
         *     }
         */
        Delivery: {
            id: components["schemas"]["DeliveryId"];
            event: components["schemas"]["EventNameInAnswer"];
            /** @description Of a test event that is a sample: the event that it shows. */
            sampleOf?: "task.check_in" | "task.requires_action" | "task.done" | "task.canceled";
            status: "pending" | "delivered" | "failed" | "canceled";
            /** @description The receiver that it goes to. Null: it goes to a callback. */
            receiverId: components["schemas"]["ReceiverId"] | null;
            /** @description The Task's callback that it goes to. Null: it goes to a receiver. */
            callbackId: components["schemas"]["CallbackId"] | null;
            /**
             * @deprecated
             * @description The former name of both.
             */
            endpointId: components["schemas"]["EndpointId"];
            transitionId: components["schemas"]["TransitionId"];
            /** @description Null on a test event. */
            taskId: components["schemas"]["TaskId"] | null;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /** @description Attempts made that count against the schedule. */
            tries: number;
            /** @description When the next try is due. With `waitingFor`, the latest time. Null when none is. */
            nextAttemptAt: string | null;
            /** @description Only of a receiver or callback with `ordering: "task"`: the delivery of the same Task that must end first. */
            waitingFor?: components["schemas"]["DeliveryId"];
            settledAt: string | null;
            /** @description Null before the first. */
            lastAttempt: components["schemas"]["LastAttempt"] | null;
            reason?: components["schemas"]["DeliveryReason"];
            /** @description Pending redeliveries. */
            owedAttempts?: number;
            /**
             * Format: date-time
             * @description When its payload was erased with those of its Task. No body and nothing of an answer is left.
             * @example 2030-01-31T12:00:00.000Z
             */
            erasedAt?: string;
        };
        /**
         * @description Id of a receiver (`wh_…`), or of a Task's callback (`cb_…`).
         * @example wh_01kes8t4a0q3m1y5b9z7x2c6vd
         */
        EndpointId: string;
        LastAttempt: {
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            at: string;
            durationMs: number;
            /** @description The endpoint's HTTP status. */
            status?: number;
            error?: components["schemas"]["AttemptError"];
        };
        /**
         * @description Why it failed or was canceled.
         *
         *     - `schedule_exhausted`: Every try of the schedule failed.
         *     - `too_old`: It was not delivered within five days, or within the `maxRetryHours` of its receiver.
         *     - `test_failed`: The receiver did not answer the test event with a 2xx.
         *     - `receiver_disabled`: The endpoint was disabled.
         *     - `receiver_removed`: The receiver was removed.
         *     - `not_sent_in_time`: No worker sent the test event in time.
         *     - `canceled_by_operator`: An operator of the service canceled it.
         *     - `payload_erased`: The payloads of its Task were erased before it was delivered.
         *     - `body_lost`: Redis lost the body of the event, which a failover can cause.
         */
        DeliveryReason: "schedule_exhausted" | "too_old" | "test_failed" | "receiver_disabled" | "receiver_removed" | "not_sent_in_time" | "canceled_by_operator" | "payload_erased" | "body_lost";
        /** @description What attempts came to. Durations are upper limits, from coarse counters. */
        Stats: {
            window: "1h" | "24h" | "7d";
            bucketSeconds: 60 | 900 | 7200;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            until: string;
            /** @description Oldest first. Always all of them, also those in which nothing happened. */
            buckets: {
                /**
                 * Format: date-time
                 * @description When it begins.
                 * @example 2030-01-31T12:00:00.000Z
                 */
                at: string;
                /** @description Successful attempts. Test events do not count. */
                delivered: number;
                /** @description Attempts that failed. Each retry counts. */
                failedAttempts: number;
                /** @description Half of the successful attempts took at most this. It is the end of a range that is 1.6 times as long as the one before, so it may be more than any of them took. 19344: they took longer than 19343. Absent when there were none. */
                p50Ms?: number;
                /** @description As `p50Ms`, of 95 percent. */
                p95Ms?: number;
            }[];
            totals: {
                /** @description Successful attempts. Test events do not count. */
                delivered: number;
                /** @description Attempts that failed. Each retry counts. */
                failedAttempts: number;
                /** @description Half of the successful attempts took at most this. It is the end of a range that is 1.6 times as long as the one before, so it may be more than any of them took. 19344: they took longer than 19343. Absent when there were none. */
                p50Ms?: number;
                /** @description As `p50Ms`, of 95 percent. */
                p95Ms?: number;
                /** @description Successful ones among all attempts. Absent without attempts. */
                successRate?: number;
            };
        };
        /**
         * @description Sends the deliveries of a time range again.
         * @example {
         *       "id": "rpl_0f1e2d3c4b5a69788796a5b4",
         *       "receiverId": "wh_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "status": "running",
         *       "statuses": [
         *         "failed",
         *         "canceled"
         *       ],
         *       "since": "2030-01-31T12:00:00.000Z",
         *       "until": "2030-02-01T12:00:00.000Z",
         *       "waiting": null,
         *       "createdAt": "2030-02-01T12:00:00.000Z",
         *       "endedAt": null,
         *       "total": 1200,
         *       "seen": 300,
         *       "replayed": 17
         *     }
         */
        Replay: {
            id: components["schemas"]["ReplayId"];
            receiverId: components["schemas"]["ReceiverId"];
            /** @description `stopped`: by request, or because the receiver was disabled or removed. */
            status: "running" | "done" | "stopped";
            /** @description The statuses of the deliveries that are sent again. */
            statuses: ("pending" | "delivered" | "failed" | "canceled")[];
            event?: components["schemas"]["EventNameInAnswer"];
            /** @description Only those whose last attempt has this `error`, or which have this `reason`. */
            error?: string;
            /** @description Only those whose last attempt was answered with this status, or one of this hundred. */
            httpStatus?: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            until: string;
            /** @description Why it sets no deliveries pending now: it goes on by itself once its workspace has room. Usually null. */
            waiting: {
                code: "workspace_full";
                detail: string;
            } | null;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            endedAt: string | null;
            /** @description Deliveries in the time range. */
            total: number;
            /** @description Deliveries looked at so far. */
            seen: number;
            /** @description Deliveries set pending again so far, and pending or delivered ones that get an attempt now. */
            replayed: number;
        };
        /**
         * @example {
         *       "id": "dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
         *       "event": "task.done",
         *       "status": "delivered",
         *       "receiverId": "wh_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "callbackId": null,
         *       "endpointId": "wh_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "transitionId": "trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw",
         *       "taskId": "task_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "createdAt": "2030-01-31T12:00:00.000Z",
         *       "tries": 2,
         *       "nextAttemptAt": null,
         *       "settledAt": "2030-01-31T12:00:05.351Z",
         *       "lastAttempt": {
         *         "at": "2030-01-31T12:00:05.310Z",
         *         "durationMs": 41,
         *         "status": 204
         *       },
         *       "request": {
         *         "method": "POST",
         *         "url": "https://hooks.example.com/herald",
         *         "headers": {
         *           "host": "hooks.example.com",
         *           "user-agent": "Herald/0.3.0-dev",
         *           "content-type": "application/json",
         *           "content-length": "182",
         *           "x-service-event": "task.done",
         *           "x-service-delivery": "dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
         *           "webhook-id": "dlv_gezdgnbvgy3tqojqgezdgnbvgy3tqojq",
         *           "webhook-timestamp": "1896091205"
         *         },
         *         "omittedHeaders": [
         *           "x-service-signature",
         *           "webhook-signature"
         *         ],
         *         "body": "{\"id\":\"trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw\",\"event\":\"task.done\",\"created_at\":\"2030-01-31T12:00:00.000Z\",\"sequence\":3,\"task\":{\"id\":\"task_01kes8t4a0q3m1y5b9z7x2c6vd\",\"status\":\"done\"}}"
         *       },
         *       "attempts": [
         *         {
         *           "at": "2030-01-31T12:00:00.120Z",
         *           "durationMs": 83,
         *           "status": 503,
         *           "headers": {
         *             "content-type": "text/plain",
         *             "retry-after": "5",
         *             "server": "nginx"
         *           },
         *           "answer": "try later"
         *         },
         *         {
         *           "at": "2030-01-31T12:00:05.310Z",
         *           "durationMs": 41,
         *           "status": 204
         *         }
         *       ]
         *     }
         */
        DeliveryWithAttempts: {
            id: components["schemas"]["DeliveryId"];
            event: components["schemas"]["EventNameInAnswer"];
            /** @description Of a test event that is a sample: the event that it shows. */
            sampleOf?: "task.check_in" | "task.requires_action" | "task.done" | "task.canceled";
            status: "pending" | "delivered" | "failed" | "canceled";
            /** @description The receiver that it goes to. Null: it goes to a callback. */
            receiverId: components["schemas"]["ReceiverId"] | null;
            /** @description The Task's callback that it goes to. Null: it goes to a receiver. */
            callbackId: components["schemas"]["CallbackId"] | null;
            /**
             * @deprecated
             * @description The former name of both.
             */
            endpointId: components["schemas"]["EndpointId"];
            transitionId: components["schemas"]["TransitionId"];
            /** @description Null on a test event. */
            taskId: components["schemas"]["TaskId"] | null;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /** @description Attempts made that count against the schedule. */
            tries: number;
            /** @description When the next try is due. With `waitingFor`, the latest time. Null when none is. */
            nextAttemptAt: string | null;
            /** @description Only of a receiver or callback with `ordering: "task"`: the delivery of the same Task that must end first. */
            waitingFor?: components["schemas"]["DeliveryId"];
            settledAt: string | null;
            /** @description Null before the first. */
            lastAttempt: components["schemas"]["LastAttempt"] | null;
            reason?: components["schemas"]["DeliveryReason"];
            /** @description Pending redeliveries. */
            owedAttempts?: number;
            /**
             * Format: date-time
             * @description When its payload was erased with those of its Task. No body and nothing of an answer is left.
             * @example 2030-01-31T12:00:00.000Z
             */
            erasedAt?: string;
            request: components["schemas"]["DeliveryRequest"];
            /** @description Oldest first. */
            attempts: components["schemas"]["Attempt"][];
        };
        DeliveryRequest: {
            method: "POST";
            /** @description The url of its endpoint. Null when that was removed. */
            url: string | null;
            /**
             * Format: date-time
             * @description When the url was changed after the last attempt, which went to the former one.
             * @example 2030-01-31T12:00:00.000Z
             */
            urlChangedAt?: string;
            /** @description As the last attempt sent them, names in lower case. `host` is that of `url`, and `webhook-timestamp` is there once there was an attempt. Without those of the connection, and without `traceparent`, which differs with every attempt. */
            headers: {
                [key: string]: string;
            };
            /** @description Sent as well, and never shown: the signatures, and the endpoint's own headers as they are now. */
            omittedHeaders: string[];
            /** @description The exact bytes that are sent, in UTF-8. Null when they are no longer kept. */
            body: string | null;
            /** @description Why there is no body. */
            bodyGone?: "not_kept" | "erased";
        };
        /** @description One HTTP request made for a delivery. */
        Attempt: {
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            at: string;
            durationMs: number;
            /** @description The endpoint's HTTP status. */
            status?: number;
            error?: components["schemas"]["AttemptError"];
            /** @description The headers that explain the answer, the first 256 bytes of each. Absent if there are none. */
            headers?: {
                "content-type"?: string;
                "retry-after"?: string;
                location?: string;
                server?: string;
                "www-authenticate"?: string;
            };
            /** @description The first 1 KiB of the answer, as it came. Escape it before you show it. Invalid UTF-8 is U+FFFD. Absent when it was empty. */
            answer?: string;
            bodyNote?: components["schemas"]["BodyNote"];
            /**
             * @description The IP address that was called, also through a proxy of the platform. Absent when there was no connection.
             * @example 203.0.113.7
             */
            address?: string;
            /**
             * @description Ids of the signing secrets that were used: the first 6 hexadecimal digits of the SHA-256 of the secret as it was shown. During a rotation first the new one, then the former one, which made `x-service-signature`.
             * @example [
             *       "5f2a90"
             *     ]
             */
            keyIds?: string[];
            /**
             * @description The first 32 hexadecimal digits of the SHA-256 of the body of the answer, as far as it was read (at most 64 KiB). Absent when there was none.
             * @example 2689367b205c16ce32ed4200942b8b8b
             */
            answerDigest?: string;
        };
        /** @description Whether anything happened since the last look. */
        Activity: {
            /** @description Compare it with the last one. It has no other meaning. */
            version: string;
        };
        /** @description Without the secret only when the answer is repeated for its `Idempotency-Key`. */
        TaskCreation: components["schemas"]["CreatedTask"] | components["schemas"]["Task"];
        /**
         * @description A new Task. Its callback's signing secret is shown only in this answer.
         * @example {
         *       "id": "task_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "status": "queued",
         *       "createdAt": "2030-01-31T12:00:00.000Z",
         *       "updatedAt": "2030-01-31T12:00:00.000Z",
         *       "workspaceId": "ws_acme",
         *       "executionWorkspaceId": "ws_acme",
         *       "result": null,
         *       "outcome": null,
         *       "usage": null,
         *       "callback": {
         *         "url": "https://hooks.example.com/invoice-42",
         *         "events": [],
         *         "enabled": true,
         *         "ordering": "none",
         *         "orderingTimeoutSeconds": 86400,
         *         "orderingTimeout": "24h",
         *         "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
         *       }
         *     }
         */
        CreatedTask: {
            id: components["schemas"]["TaskId"];
            status: components["schemas"]["TaskStatusInAnswer"];
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            updatedAt: string;
            /** @description The controller workspace. Events go to its receivers and its callback. */
            workspaceId: string;
            /** @description Where the Task runs. */
            executionWorkspaceId: string;
            /** @description The version that `resolve` must name. Only while the Task requires an action. */
            actionVersion?: number;
            /** @description Any JSON. Null while there is none. */
            result: unknown;
            /** @description The final one. Until then the newest of an action or a canonical checkpoint. */
            outcome: components["schemas"]["PublicOutcome"] | null;
            /** @description Any JSON. Null while there is none. */
            usage: unknown;
            /**
             * Format: date-time
             * @description When its payloads were erased.
             * @example 2030-01-31T12:00:00.000Z
             */
            erasedAt?: string;
            callback?: components["schemas"]["CreatedCallback"];
        };
        CreatedCallback: {
            url: string;
            /** @description Empty means every event. */
            events: components["schemas"]["EventNameInAnswer"][];
            enabled: boolean;
            /** @description `task`: the events of one Task go one after the other, in the order of their `sequence`. */
            ordering: "none" | "task";
            /**
             * @description How long an event waits for those before it, if `ordering` is `task`.
             * @example 86400
             */
            orderingTimeoutSeconds: number;
            /**
             * @deprecated
             * @description The former name of `orderingTimeoutSeconds`, as a text.
             * @example 24h
             */
            orderingTimeout: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            disabledAt?: string;
            /** @description `by_request`: somebody disabled it. `locked`: the platform disabled it, and only the platform enables it again. `gone`: it answered 410. `failing`: it failed for too long without one success. */
            disabledReason?: "by_request" | "locked" | "gone" | "failing";
            /**
             * @description Who disabled it: the id of an API key (`key_…`) or of a portal link (`plk_…`), `platform` for whoever runs the service, or `herald` by itself. Absent when that was not noted yet.
             * @example platform
             */
            disabledBy?: string;
            /** @description What the platform says about a lock. Absent when it says nothing. */
            lockedReason?: string;
            /**
             * @description Names of the `headers` that it was given. Their values are never shown. Absent without any.
             * @example [
             *       "authorization"
             *     ]
             */
            headerNames?: string[];
            /**
             * @description The signing secret, shown only in this answer.
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string;
        };
        /**
         * @example {
         *       "id": "task_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "status": "done",
         *       "createdAt": "2030-01-31T12:00:00.000Z",
         *       "updatedAt": "2030-01-31T12:04:10.000Z",
         *       "workspaceId": "ws_acme",
         *       "executionWorkspaceId": "ws_acme",
         *       "result": {
         *         "invoice": "in_42"
         *       },
         *       "outcome": {
         *         "summary": "The invoice was sent.",
         *         "progress": 1
         *       },
         *       "usage": {
         *         "tokens": 1234
         *       },
         *       "callback": {
         *         "url": "https://hooks.example.com/invoice-42",
         *         "events": [],
         *         "enabled": true,
         *         "ordering": "none",
         *         "orderingTimeoutSeconds": 86400,
         *         "orderingTimeout": "24h"
         *       }
         *     }
         */
        Task: {
            id: components["schemas"]["TaskId"];
            status: components["schemas"]["TaskStatusInAnswer"];
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            updatedAt: string;
            /** @description The controller workspace. Events go to its receivers and its callback. */
            workspaceId: string;
            /** @description Where the Task runs. */
            executionWorkspaceId: string;
            /** @description The version that `resolve` must name. Only while the Task requires an action. */
            actionVersion?: number;
            /** @description Any JSON. Null while there is none. */
            result: unknown;
            /** @description The final one. Until then the newest of an action or a canonical checkpoint. */
            outcome: components["schemas"]["PublicOutcome"] | null;
            /** @description Any JSON. Null while there is none. */
            usage: unknown;
            /**
             * Format: date-time
             * @description When its payloads were erased.
             * @example 2030-01-31T12:00:00.000Z
             */
            erasedAt?: string;
            callback?: components["schemas"]["Callback"];
        };
        /**
         * @description The url to which the events of one Task are sent, besides the receivers.
         * @example {
         *       "url": "https://hooks.example.com/invoice-42",
         *       "events": [],
         *       "enabled": true,
         *       "ordering": "none",
         *       "orderingTimeoutSeconds": 86400,
         *       "orderingTimeout": "24h"
         *     }
         */
        Callback: {
            url: string;
            /** @description Empty means every event. */
            events: components["schemas"]["EventNameInAnswer"][];
            enabled: boolean;
            /** @description `task`: the events of one Task go one after the other, in the order of their `sequence`. */
            ordering: "none" | "task";
            /**
             * @description How long an event waits for those before it, if `ordering` is `task`.
             * @example 86400
             */
            orderingTimeoutSeconds: number;
            /**
             * @deprecated
             * @description The former name of `orderingTimeoutSeconds`, as a text.
             * @example 24h
             */
            orderingTimeout: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            disabledAt?: string;
            /** @description `by_request`: somebody disabled it. `locked`: the platform disabled it, and only the platform enables it again. `gone`: it answered 410. `failing`: it failed for too long without one success. */
            disabledReason?: "by_request" | "locked" | "gone" | "failing";
            /**
             * @description Who disabled it: the id of an API key (`key_…`) or of a portal link (`plk_…`), `platform` for whoever runs the service, or `herald` by itself. Absent when that was not noted yet.
             * @example platform
             */
            disabledBy?: string;
            /** @description What the platform says about a lock. Absent when it says nothing. */
            lockedReason?: string;
            /**
             * @description Names of the `headers` that it was given. Their values are never shown. Absent without any.
             * @example [
             *       "authorization"
             *     ]
             */
            headerNames?: string[];
        };
        TaskPage: {
            tasks: components["schemas"]["Task"][];
            /** @description The `cursor` of the next page. Null on the last one. */
            nextCursor: string | null;
        };
        /**
         * @description A Task with its input, messages and decisions.
         * @example {
         *       "id": "task_01kes8t4a0q3m1y5b9z7x2c6vd",
         *       "status": "done",
         *       "createdAt": "2030-01-31T12:00:00.000Z",
         *       "updatedAt": "2030-01-31T12:04:10.000Z",
         *       "workspaceId": "ws_acme",
         *       "executionWorkspaceId": "ws_acme",
         *       "result": {
         *         "invoice": "in_42"
         *       },
         *       "outcome": {
         *         "summary": "The invoice was sent.",
         *         "progress": 1
         *       },
         *       "usage": {
         *         "tokens": 1234
         *       },
         *       "callback": {
         *         "url": "https://hooks.example.com/invoice-42",
         *         "events": [],
         *         "enabled": true,
         *         "ordering": "none",
         *         "orderingTimeoutSeconds": 86400,
         *         "orderingTimeout": "24h"
         *       },
         *       "input": {
         *         "invoice": "in_42"
         *       },
         *       "messages": [
         *         {
         *           "text": "The amount includes VAT.",
         *           "createdAt": "2030-01-31T12:01:00.000Z"
         *         }
         *       ],
         *       "decisions": [
         *         {
         *           "approvalId": "pay",
         *           "actionVersion": 1,
         *           "decision": "yes",
         *           "decidedAt": "2030-01-31T12:03:00.000Z"
         *         }
         *       ]
         *     }
         */
        FullTask: {
            id: components["schemas"]["TaskId"];
            status: components["schemas"]["TaskStatusInAnswer"];
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            updatedAt: string;
            /** @description The controller workspace. Events go to its receivers and its callback. */
            workspaceId: string;
            /** @description Where the Task runs. */
            executionWorkspaceId: string;
            /** @description The version that `resolve` must name. Only while the Task requires an action. */
            actionVersion?: number;
            /** @description Any JSON. Null while there is none. */
            result: unknown;
            /** @description The final one. Until then the newest of an action or a canonical checkpoint. */
            outcome: components["schemas"]["PublicOutcome"] | null;
            /** @description Any JSON. Null while there is none. */
            usage: unknown;
            /**
             * Format: date-time
             * @description When its payloads were erased.
             * @example 2030-01-31T12:00:00.000Z
             */
            erasedAt?: string;
            callback?: components["schemas"]["Callback"];
            /** @description Any JSON. Null when none was given. */
            input: unknown;
            /** @description In the order in which they were added. */
            messages: components["schemas"]["TaskMessage"][];
            /** @description In the order in which they were taken. */
            decisions: components["schemas"]["TaskDecision"][];
        };
        TaskMessage: {
            text: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
        };
        TaskDecision: {
            approvalId: string;
            actionVersion: number;
            decision: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            decidedAt: string;
        };
        MessageAdded: {
            taskId: components["schemas"]["TaskId"];
            text: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
        };
        ApprovalResolved: {
            taskId: components["schemas"]["TaskId"];
            approvalId: string;
            decision: string;
            actionVersion: number;
            status: components["schemas"]["TaskStatusInAnswer"];
            /** @description The same decision was taken before. Nothing was changed. */
            duplicate: boolean;
        };
        /** @description `status` is that of the Task now. */
        AcceptedTransition: {
            transitionId: components["schemas"]["TransitionId"];
            taskId: components["schemas"]["TaskId"];
            status: components["schemas"]["TaskStatusInAnswer"];
            /** @description The fact was known before. Nothing was emitted. */
            duplicate: boolean;
            /** @description Only on a duplicate: this report says something else than the one that counts. */
            differs?: boolean;
        };
        PayloadsErased: {
            taskId: components["schemas"]["TaskId"];
            /**
             * Format: date-time
             * @description When it was asked for first.
             * @example 2030-01-31T12:00:00.000Z
             */
            erasedAt: string;
        };
        BatchResults: {
            /** @description One for each item, in order. */
            results: components["schemas"]["BatchResult"][];
        };
        /** @description An accepted transition, with all its fields, or an `error`. */
        BatchResult: {
            transitionId?: components["schemas"]["TransitionId"];
            taskId?: components["schemas"]["TaskId"];
            status?: components["schemas"]["TaskStatusInAnswer"];
            /** @description The fact was known before. Nothing was emitted. */
            duplicate?: boolean;
            /** @description Only on a duplicate: this report says something else than the one that counts. */
            differs?: boolean;
            /** @description Of an item that was refused, and then alone. Its codes: `validation_failed`, `task_not_found`, `invalid_transition`, `stale_action_version`, `workspace_full`, `unavailable`. */
            error?: components["schemas"]["Problem"];
        };
        ExecutorTaskPage: {
            tasks: components["schemas"]["ExecutorTaskItem"][];
            /** @description The `cursor` of the next page. Null on the last one. */
            nextCursor: string | null;
        };
        ExecutorTaskItem: {
            id: components["schemas"]["TaskId"];
            status: components["schemas"]["TaskStatusInAnswer"];
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            updatedAt: string;
            /** @description The controller workspace. Events go to its receivers and its callback. */
            workspaceId: string;
            /** @description Where the Task runs. */
            executionWorkspaceId: string;
            /** @description The version that `resolve` must name. Only while the Task requires an action. */
            actionVersion?: number;
            /** @description Any JSON. Null while there is none. */
            result: unknown;
            /** @description The final one. Until then the newest of an action or a canonical checkpoint. */
            outcome: components["schemas"]["PublicOutcome"] | null;
            /** @description Any JSON. Null while there is none. */
            usage: unknown;
            /**
             * Format: date-time
             * @description When its payloads were erased.
             * @example 2030-01-31T12:00:00.000Z
             */
            erasedAt?: string;
        };
        /** @description A Task with its input, messages and decisions. */
        ExecutorTask: {
            id: components["schemas"]["TaskId"];
            status: components["schemas"]["TaskStatusInAnswer"];
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            updatedAt: string;
            /** @description The controller workspace. Events go to its receivers and its callback. */
            workspaceId: string;
            /** @description Where the Task runs. */
            executionWorkspaceId: string;
            /** @description The version that `resolve` must name. Only while the Task requires an action. */
            actionVersion?: number;
            /** @description Any JSON. Null while there is none. */
            result: unknown;
            /** @description The final one. Until then the newest of an action or a canonical checkpoint. */
            outcome: components["schemas"]["PublicOutcome"] | null;
            /** @description Any JSON. Null while there is none. */
            usage: unknown;
            /**
             * Format: date-time
             * @description When its payloads were erased.
             * @example 2030-01-31T12:00:00.000Z
             */
            erasedAt?: string;
            /** @description Any JSON. Null when none was given. */
            input: unknown;
            /** @description In the order in which they were added. */
            messages: components["schemas"]["TaskMessage"][];
            /** @description In the order in which they were taken. */
            decisions: components["schemas"]["TaskDecision"][];
            /** @description A restarted executor continues from here. Null before the first. */
            lastCheckpoint: {
                checkpointId: string;
                canonical: boolean;
                material: boolean;
                outcome?: components["schemas"]["Outcome"];
                /**
                 * Format: date-time
                 * @description An RFC 3339 time in UTC.
                 * @example 2030-01-31T12:00:00.000Z
                 */
                at: string;
            } | null;
        };
        Alive: {
            status: "ok";
        };
        Readiness: {
            status: "ok" | "unavailable";
            /** @description Why requests can't be served now. Empty when they can. */
            problems: components["schemas"]["Finding"][];
            /** @description What needs attention although requests are served. */
            warnings: components["schemas"]["Finding"][];
            /** @description Workers seen lately. Null when unknown. */
            workers: number | null;
        };
        Finding: {
            level: "warning" | "error";
            code: components["schemas"]["ReadinessCode"];
            /** @description What is wrong, and what to do. */
            sentence: string;
        };
        /**
         * @description Stable.
         *
         *     - `redis_away`: The connection to Redis is down.
         *     - `redis_hangs`: The connection to Redis is there, but Redis gives no answer.
         *     - `redis_refuses_writes`: Redis did not take a write.
         *     - `redis_nearly_full`: Redis uses more than 85 % of its memory. The workspaces that hold the most are refused first (429 `workspace_full`), and from 95 % on every workspace is. In a cluster this is said of the fullest master, and only workspaces that lie on it are refused.
         *     - `redis_replica`: Redis is a replica, and loses what is written to it.
         *     - `redis_not_permitted`: Redis refuses commands, keys or channels that Herald needs.
         *     - `redis_command_missing`: Redis no longer has all commands that Herald needs.
         *     - `eviction_policy`: Redis throws data away when it is full.
         *     - `maxmemory_unset`: Redis has no memory limit: when it is full, the system kills it instead of Redis refusing writes.
         *     - `persistence_off`: Redis keeps nothing on disk, and loses everything when it restarts.
         *     - `aof_off`: Redis has no append-only file, and loses minutes when it crashes.
         *     - `snapshots_on`: Redis writes snapshots beside the append-only file, which cost much and help nothing.
         *     - `snapshot_failed`: Redis could not write its last snapshot.
         *     - `data_lost`: The data on which the process works is gone from Redis.
         *     - `shards_unsure`: The process was away for a while, and looks first whether the data is where it was.
         *     - `shards_differ`: The data is laid out for another number of shards.
         *     - `shards_moving`: The data is being resharded.
         *     - `layout_former`: The data is that of a former version.
         *     - `layout_upgrading`: The data is being taken over from a former version.
         *     - `layout_newer`: The data is laid out by a newer version.
         *     - `egress_away`: The worker itself can send nothing: no resolver answers, no route leads out, it has no descriptors left, or it trusts no authority. Deliveries wait, and spend no try.
         *     - `egress_proxy`: The proxy through which the worker sends is away, or refuses. Deliveries wait, and spend no try.
         *     - `no_worker`: No worker was seen lately. Transitions are accepted, and nothing is sent.
         *     - `proxy_not_trusted`: Requests come through a proxy, and `TRUST_PROXY` is 0. All callers share the address of the proxy, and the limits of wrong keys and sign-ins. Only the API says it, for five minutes after the last such request.
         *     - `history_away`: PostgreSQL, where settled deliveries go, is away or refuses. They stay in Redis, and deliveries go on.
         *     - `history_days_stay`: A day that `HISTORY_RETENTION` has ended hours ago is still in the history, with its bodies: somebody reads it, such as a long `pg_dump`, or it can not be dropped.
         *     - `history_retention_kept`: `HISTORY_RETENTION` was shortened by more than half. Nothing is dropped by it, since what is dropped is gone.
         *     - `history_not_set`: The data has a history, and `HISTORY_URL` is not set in this process. What settles waits in Redis, and what has moved is not shown by it.
         *     - `clock_off`: The clock of the machine differs from the time of Redis by more than half a second.
         * @example redis_away
         */
        ReadinessCode: "redis_away" | "redis_hangs" | "redis_refuses_writes" | "redis_nearly_full" | "redis_replica" | "redis_not_permitted" | "redis_command_missing" | "eviction_policy" | "maxmemory_unset" | "persistence_off" | "aof_off" | "snapshots_on" | "snapshot_failed" | "data_lost" | "shards_unsure" | "shards_differ" | "shards_moving" | "layout_former" | "layout_upgrading" | "layout_newer" | "egress_away" | "egress_proxy" | "no_worker" | "proxy_not_trusted" | "history_away" | "history_days_stay" | "history_retention_kept" | "history_not_set" | "clock_off";
        StartLinks: {
            links: {
                path: string;
                title: string;
            }[];
        };
        /** @description What each code means, and what to do. */
        ErrorCodes: {
            /** @description The `code` of an answer that is an error. */
            problems: components["schemas"]["ExplainedErrorCode"][];
            /** @description The `error` of an attempt that got no usable answer. */
            attempts: components["schemas"]["ExplainedCode"][];
            /** @description The `bodyNote` of an attempt whose answer was odd. None is a failure. */
            answers: components["schemas"]["ExplainedCode"][];
            /** @description The `reason` of a delivery that failed or was canceled. */
            deliveries: components["schemas"]["ExplainedCode"][];
            /** @description The `code` of a problem or a warning in `/readyz`. */
            readiness: components["schemas"]["ExplainedCode"][];
        };
        ExplainedErrorCode: {
            code: string;
            meaning: string;
            /** @description What to do. */
            action: string;
            status: number;
        };
        ExplainedCode: {
            code: string;
            meaning: string;
            /** @description What to do. */
            action: string;
        };
        /** @description Without the secret only when the answer is repeated for its `Idempotency-Key`. */
        PortalLinkCreation: components["schemas"]["PortalLink"] | components["schemas"]["RepeatedPortalLink"];
        /**
         * @description A link to the console of one workspace.
         * @example {
         *       "id": "plk_0f1e2d3c4b5a6978",
         *       "url": "https://herald.example.com/console#token=hrlp_7tVQn0yJxk3LbM9cWf2RzD6sHgA8pE1uXaBcDe",
         *       "token": "hrlp_7tVQn0yJxk3LbM9cWf2RzD6sHgA8pE1uXaBcDe",
         *       "expiresAt": "2030-01-31T13:00:00.000Z",
         *       "readOnly": false
         *     }
         */
        PortalLink: {
            id: components["schemas"]["PortalLinkId"];
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            expiresAt: string;
            /** @description Whether the link can only read. */
            readOnly: boolean;
            /** @description The console, signed in. Absolute where `PUBLIC_URL` is set, else a path. Whoever has it is in. */
            url: string;
            /** @description The bearer token in the url. Shown only in this answer. */
            token: string;
        };
        /** @description The answer to a new link, repeated for its `Idempotency-Key`. */
        RepeatedPortalLink: {
            id: components["schemas"]["PortalLinkId"];
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            expiresAt: string;
            /** @description Whether the link can only read. */
            readOnly: boolean;
        };
        /**
         * @example {
         *       "portalLinks": [
         *         {
         *           "id": "plk_0f1e2d3c4b5a6978",
         *           "createdAt": "2030-01-31T12:00:00.000Z",
         *           "expiresAt": "2030-01-31T13:00:00.000Z",
         *           "readOnly": true,
         *           "createdBy": "key_0123456789abcdef"
         *         }
         *       ]
         *     }
         */
        PortalLinkList: {
            portalLinks: components["schemas"]["ListedPortalLink"][];
        };
        ListedPortalLink: {
            id: components["schemas"]["PortalLinkId"];
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            expiresAt: string;
            /** @description Whether the link can only read. */
            readOnly: boolean;
            /**
             * @description The id of the API key that made it, or `operator` for one that an operator of the service made.
             * @example key_0123456789abcdef
             */
            createdBy: string;
        };
        PortalLinkDeleted: {
            deleted: boolean;
        };
        /** @description What the credentials of a request may do. */
        Access: {
            workspaceId: string;
            kind: "api_key" | "portal_link";
            scopes: ("webhooks" | "tasks" | "approvals:any" | "execute" | "platform")[];
            readOnly: boolean;
            /** @description Whether it is a link that an operator made. */
            operator: boolean;
            /**
             * Format: date-time
             * @description Absent when it does not expire.
             * @example 2030-01-31T12:00:00.000Z
             */
            expiresAt?: string;
        };
        /** @description Without the secret only when the answer is repeated for its `Idempotency-Key`. */
        WorkspaceKeyCreation: components["schemas"]["CreatedWorkspaceKey"] | components["schemas"]["WorkspaceKey"];
        /**
         * @description A new key. It is shown only in this answer.
         * @example {
         *       "id": "key_0123456789abcdef",
         *       "workspaceId": "ws_acme",
         *       "scopes": [
         *         "webhooks",
         *         "tasks"
         *       ],
         *       "name": "billing, production",
         *       "createdAt": "2030-01-31T12:00:00.000Z",
         *       "expiresAt": null,
         *       "lastUsedAt": null,
         *       "key": "hrld_0123456789abcdef_7tVQn0yJxk3LbM9cWf2RzD6sHgA8pE1uXaBcDe"
         *     }
         */
        CreatedWorkspaceKey: {
            id: components["schemas"]["ApiKeyId"];
            /** @example ws_acme */
            workspaceId: string;
            scopes: components["schemas"]["WorkspaceScopeInAnswer"][];
            name: string | null;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /** @description Null: it works until it is revoked. */
            expiresAt: string | null;
            /** @description About a minute behind at most. Null before the first use. */
            lastUsedAt: string | null;
            /** @description The key itself, shown only in this answer. */
            key: string;
        };
        /**
         * @description An API key of a workspace.
         * @example {
         *       "id": "key_0123456789abcdef",
         *       "workspaceId": "ws_acme",
         *       "scopes": [
         *         "webhooks",
         *         "tasks"
         *       ],
         *       "name": "billing, production",
         *       "createdAt": "2030-01-31T12:00:00.000Z",
         *       "expiresAt": null,
         *       "lastUsedAt": null
         *     }
         */
        WorkspaceKey: {
            id: components["schemas"]["ApiKeyId"];
            /** @example ws_acme */
            workspaceId: string;
            scopes: components["schemas"]["WorkspaceScopeInAnswer"][];
            name: string | null;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            /** @description Null: it works until it is revoked. */
            expiresAt: string | null;
            /** @description About a minute behind at most. Null before the first use. */
            lastUsedAt: string | null;
        };
        /**
         * @example {
         *       "keys": [
         *         {
         *           "id": "key_0123456789abcdef",
         *           "workspaceId": "ws_acme",
         *           "scopes": [
         *             "webhooks",
         *             "tasks"
         *           ],
         *           "name": "billing, production",
         *           "createdAt": "2030-01-31T12:00:00.000Z",
         *           "expiresAt": null,
         *           "lastUsedAt": null
         *         }
         *       ]
         *     }
         */
        WorkspaceKeyList: {
            keys: components["schemas"]["WorkspaceKey"][];
        };
        WorkspaceKeyRevoked: {
            deleted: boolean;
        };
        /**
         * @description A workspace in which Tasks of another may run.
         * @example {
         *       "executionWorkspaceId": "ws_acme-runs",
         *       "boundAt": "2030-01-31T12:00:00.000Z"
         *     }
         */
        Binding: {
            /** @example ws_acme */
            executionWorkspaceId: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            boundAt: string;
        };
        /**
         * @example {
         *       "executionWorkspaces": [
         *         {
         *           "executionWorkspaceId": "ws_acme-runs",
         *           "boundAt": "2030-01-31T12:00:00.000Z"
         *         }
         *       ]
         *     }
         */
        BindingList: {
            executionWorkspaces: components["schemas"]["Binding"][];
        };
        BindingEnded: {
            deleted: boolean;
        };
        /**
         * @example {
         *       "workspaceId": "ws_acme",
         *       "erased": true,
         *       "tasks": 1204
         *     }
         */
        WorkspaceErasure: {
            /** @example ws_acme */
            workspaceId: string;
            /** @description False: there is more to erase. Repeat the request until it is true. */
            erased: boolean;
            /** @description How many Tasks this request erased. */
            tasks: number;
        };
        Overview: {
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            at: string;
            window: "1h" | "24h";
            bucketSeconds: 60 | 900;
            /** @description Rates are of the last minute or two. `arrival…`: from the acceptance of a delivery to the end of its first attempt, of those that succeeded at once; at most this, to a power of two. Absent: nothing happened. */
            now: {
                acceptedPerSecond: number;
                deliveredPerSecond: number;
                successRate?: number;
                arrivalP50Ms?: number;
                arrivalP99Ms?: number;
                /** @description Deliveries that are due and wait only for a worker or a slot. */
                waiting: number;
                /** @description Deliveries in work. */
                active: number;
                /** @description Deliveries that are not due, or whose receiver is left alone. */
                delayed: number;
                oldestDueMs?: number;
                /** @description When what is due will be sent, at these rates. Absent: never, since as much comes as goes, or nothing goes. */
                emptyInMs?: number;
                isPaused: boolean;
            };
            /** @description Those seen lately. */
            processes: {
                role: "api" | "worker";
                id: string;
                /**
                 * Format: date-time
                 * @description An RFC 3339 time in UTC.
                 * @example 2030-01-31T12:00:00.000Z
                 */
                lastSeenAt: string;
            }[];
            /** @description Memory of all masters. Empty where Redis does not tell. */
            redis: {
                usedBytes?: number;
                /** @description Absent without a limit. */
                maxBytes?: number;
                /** @description How fast it grows. Absent at first. */
                bytesPerSecond?: number;
                /** @description When it is full at this rate. */
                fullInSeconds?: number;
            };
            /** @description The ten that hold the most, largest first. `bytes`: roughly what their Tasks, facts, bodies, attempts and kept answers take in Redis. */
            workspaces: {
                workspaceId: string;
                pending: number;
                bytes: number;
            }[];
            buckets: {
                /**
                 * Format: date-time
                 * @description An RFC 3339 time in UTC.
                 * @example 2030-01-31T12:00:00.000Z
                 */
                at: string;
                accepted: number;
                delivered: number;
                failedAttempts: number;
                p50Ms?: number;
                p99Ms?: number;
            }[];
            /** @description What is wrong now, in the words of `herald doctor`. */
            findings: components["schemas"]["ServiceFinding"][];
        };
        ServiceFinding: {
            level: "error" | "warning";
            /**
             * @description Stable, in snake_case.
             * @example breaker_open
             */
            code: string;
            /** @description What is wrong. */
            text: string;
            whatToDo: string;
        };
        WaitingReceiverList: {
            receivers: components["schemas"]["WaitingReceiver"][];
        };
        /** @description A receiver, or the callbacks of a workspace to one origin: what waits for it, and why. */
        WaitingReceiver: {
            /** @description Its name in the queue: of a receiver, its id. */
            group: string;
            /** @description `callbacks`: those of a workspace to one origin. */
            kind: "receiver" | "callbacks" | "notices";
            /** @description Null when nothing tells. */
            workspaceId: string | null;
            host: string | null;
            /** @description Deliveries that may be in work. Absent: as configured. */
            limit?: number;
            inWork: number;
            /** @description Waiting deliveries, due or not. */
            waiting: number;
            due: number;
            /** @description An operator has paused it. Absent: not. */
            stopped?: boolean;
            breaker: "closed" | "open";
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            nextProbeAt?: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            pausedUntil?: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            suspectUntil?: string;
            /** @description Attempts without an answer, in a row. */
            unanswered: number;
            /** @description Attempts, in the last minute or two. Absent: nothing counts them. */
            sentPerSecond?: number;
            /** @description When what is due will be sent at this rate, if no more comes. Absent: nothing goes. */
            emptyInMs?: number;
            first?: {
                id: components["schemas"]["DeliveryId"];
                /**
                 * Format: date-time
                 * @description An RFC 3339 time in UTC.
                 * @example 2030-01-31T12:00:00.000Z
                 */
                dueAt: string;
            };
            /** @description What keeps its deliveries waiting, as a sentence. */
            why: string;
        };
        SearchResults: {
            results: {
                kind: "workspace" | "receiver" | "delivery" | "task" | "host";
                id: string;
                workspaceId: string;
                label: string;
            }[];
            /** @description False: there may be more. Ask for more of the name, or for an id. */
            complete: boolean;
        };
        FailedPage: {
            deliveries: components["schemas"]["FailedDelivery"][];
            /** @description The `cursor` of the next page. Null on the last one. */
            nextCursor: string | null;
        };
        FailedDelivery: {
            id: components["schemas"]["DeliveryId"];
            workspaceId: string;
            /** @description Null: it goes to a callback, or is a notice. */
            receiverId: components["schemas"]["ReceiverId"] | null;
            /** @description Null: it goes to a receiver, or is a notice. */
            callbackId: components["schemas"]["CallbackId"] | null;
            /**
             * @deprecated
             * @description The former name of both; `platform` of a notice.
             */
            endpointId: string;
            /** @description Null when the endpoint was removed. */
            host: string | null;
            event: "task.check_in" | "task.requires_action" | "task.done" | "task.canceled" | "webhook.test" | "receiver.failing" | "receiver.disabled" | "receiver.recovered" | "callback.disabled";
            taskId: components["schemas"]["TaskId"] | null;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            createdAt: string;
            failedAt: string | null;
            tries: number;
            reason?: components["schemas"]["DeliveryReason"];
            lastAttempt: components["schemas"]["LastAttempt"] | null;
        };
        AuditPage: {
            entries: components["schemas"]["AuditEntry"][];
            /** @description The `cursor` of the next page. Null on the last one. */
            nextCursor: string | null;
            /** @description The history cannot be reached, so that older entries may be missing. */
            historyUnavailable?: boolean;
        };
        AuditEntry: {
            /** @example 1893456000000-123456789012345 */
            id: string;
            /**
             * Format: date-time
             * @description An RFC 3339 time in UTC.
             * @example 2030-01-31T12:00:00.000Z
             */
            at: string;
            /** @description `key_…`, `plk_…` (a portal link), `operator` or `cli`. */
            by: string;
            /** @description The name of the operator, also of one who made the portal link; of `cli` the user of the system; `platform` of a platform key. */
            user: string | null;
            /** @description The id of an operation, such as `changeReceiver`, or a name like it. */
            action: string;
            /** @description What was changed, mostly its id. */
            target: string | null;
            /** @description Null when it was nothing of one workspace. */
            workspaceId: string | null;
            /** @description The fields that were given, without their values. */
            fields: string[] | null;
            reason: string | null;
            /** @description Where the request came from. */
            address: string | null;
            requestId: string | null;
        };
        /** @description What happened. Only the test operation sends `webhook.test`. */
        EventNameInAnswer: "task.check_in" | "task.requires_action" | "task.done" | "task.canceled" | "webhook.test";
        /**
         * @description The most deliveries in a second. After a quiet time a burst of one second may come at once. What waits spends no try. A redelivery does not wait, and test events do not count.
         * @example {
         *       "perSecond": 10
         *     }
         */
        RateLimitInAnswer: {
            perSecond: number;
        };
        TaskStatusInAnswer: "queued" | "running" | "requires_action" | "done" | "canceled";
        WorkspaceScopeInAnswer: "webhooks" | "tasks" | "approvals:any";
    };
    responses: {
        /** @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice. */
        malformed_request: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unauthenticated`: The API key, or the portal link, is missing, unknown, expired or revoked. */
        unauthenticated: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                "www-authenticate": components["headers"]["www-authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `insufficient_scope`: The API key lacks the scope of the operation, or a portal link may not use it. */
        insufficient_scope: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `precondition_failed`: The receiver was changed since its `ETag` was read, or the request has an `If-Match` where nothing has an `ETag`. */
        precondition_failed: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `payload_too_large`: The body is larger than 256 KiB, or a batch than 4 MiB. */
        payload_too_large: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unsupported_media_type`: The body is not `application/json` in UTF-8, or is compressed. */
        unsupported_media_type: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `validation_failed`: The input breaks rules. Nothing was changed. */
        validation_failed: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address. */
        rate_limited: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                "retry-after": components["headers"]["retry-after"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `internal`: An internal error. The request id finds it in the log of the service. */
        internal: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unavailable`: Redis, or the workers, cannot be reached now. */
        unavailable: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                "retry-after": components["headers"]["retry-after"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description `method_not_allowed`: The path doesn't have this method.
         *
         *     `request_timeout`: The request took too long to arrive.
         *
         *     `headers_too_large`: The request line and headers are larger than 16 KiB together.
         */
        problem: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
        "Idempotency-Key": string;
        /** @description The `ETag` of an answer, or several, with commas between. If the receiver has been changed since, the request is refused with 412 and changes nothing. `*`: as without the header. */
        "If-Match": string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Id of the request: its own `x-request-id` if that has 1 to 64 letters, digits, `.`, `_` or `-`, else a new one.
         * @example req_8fK2mQ0ZxYbA
         */
        "x-request-id": string;
        /** @description Path of the new object. */
        location: string;
        /** @description `no-store`: the answer may hold a secret. */
        "cache-control": "no-store";
        /**
         * @description Changes with whatever can be set of the receiver. Send it in `If-Match` with a change.
         * @example "5f0c6f9a31d84f6c9f2e0c1d7a1b2c3d5e6f7a8b"
         */
        etag: string;
        /** @description How to authenticate. */
        "www-authenticate": string;
        /**
         * @description Seconds to wait before the next try.
         * @example 2
         */
        "retry-after": string;
        /** @description `true`: the answer of an earlier request with the same `Idempotency-Key`, without its secret. */
        "idempotency-replayed": "true";
        /**
         * @description `r`: requests left. `t`: seconds until the limit is full again. Absent without a limit.
         * @example "api-key"; r=199; t=1
         */
        ratelimit: string;
        /**
         * @description `q`: requests that one API key may make in `w` seconds. Absent without a limit.
         * @example "api-key"; q=200; w=1; pk=:MTIz:
         */
        "ratelimit-policy": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listReceivers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All receivers and all event names. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiverList"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    registerReceiver: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisterReceiver"];
            };
        };
        responses: {
            /** @description The receiver with its signing secret. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    location: components["headers"]["location"];
                    "cache-control": components["headers"]["cache-control"];
                    etag: components["headers"]["etag"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiverRegistration"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `receiver_limit_reached`: The workspace already has as many receivers as it may.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    readReceiver: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receiver. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    etag: components["headers"]["etag"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receiver"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    removeReceiver: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of an answer, or several, with commas between. If the receiver has been changed since, the request is refused with 412 and changes nothing. `*`: as without the header. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receiver is removed. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiverDeleted"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    changeReceiver: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The `ETag` of an answer, or several, with commas between. If the receiver has been changed since, the request is refused with 412 and changes nothing. `*`: as without the header. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchReceiver"];
            };
        };
        responses: {
            /** @description The changed receiver. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    etag: components["headers"]["etag"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receiver"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `receiver_locked`: The platform disabled the receiver or the callback, and locked it. It stays as it is, and nothing is sent to it.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    testReceiver: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RequestTest"];
            };
        };
        responses: {
            /** @description The receiver's answer. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestOutcome"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `receiver_locked`: The platform disabled the receiver or the callback, and locked it. It stays as it is, and nothing is sent to it.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    rotateReceiverSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateSecret"];
            };
        };
        responses: {
            /** @description The new secret. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "cache-control": components["headers"]["cache-control"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretRotation"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    endReceiverOverlap: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receiver. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    etag: components["headers"]["etag"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receiver"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listReceiverDeliveries: {
        parameters: {
            query?: {
                /** @description In this status. */
                status?: components["schemas"]["DeliveryStatus"];
                /** @description Of this event. */
                event?: components["schemas"]["EventName"];
                /** @description Accepted at or after this time. */
                since?: string;
                /** @description Accepted before this time. */
                until?: string;
                /** @description Whose last attempt has this `error`, or which have this `reason`. */
                error?: string;
                /** @description Whose last attempt was answered with this status, or with one of this hundred: `503`, `5xx`. */
                httpStatus?: string;
                /** @description The `sinceCursor` of an earlier list: what was accepted since then, and again some of the half minute before. */
                sinceCursor?: string;
                /** @description How many items a page may hold, from 1 to 100. Default: 50. */
                limit?: number;
                /** @description The `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            /**
             * @description `history_unavailable`: The history of deliveries (PostgreSQL) cannot be reached now. What is in Redis is still answered.
             *
             *     `unavailable`: Redis, or the workers, cannot be reached now.
             */
            503: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["problem"];
        };
    };
    readReceiverStats: {
        parameters: {
            query?: {
                /** @description How far back it looks. Default: 24h. */
                window?: components["schemas"]["StatsWindow"];
            };
            header?: never;
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statistics. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    replayDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RequestReplay"];
            };
        };
        responses: {
            /** @description The replay. It runs by itself. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    location: components["headers"]["location"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `receiver_disabled`: The receiver or the callback is disabled.
             *
             *     `receiver_locked`: The platform disabled the receiver or the callback, and locked it. It stays as it is, and nothing is sent to it.
             *
             *     `replay_limit_reached`: The workspace already has as many replays under way as it may.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    lockReceiver: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["LockReceiver"];
            };
        };
        responses: {
            /** @description The locked receiver. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    etag: components["headers"]["etag"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receiver"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    unlockReceiver: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The enabled receiver. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    etag: components["headers"]["etag"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receiver"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    pauseReceiver: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PauseReceiver"];
            };
        };
        responses: {
            /** @description The paused receiver. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    etag: components["headers"]["etag"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receiver"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    resumeReceiver: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a receiver. */
                id: components["schemas"]["ReceiverId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receiver, which is not paused any more. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    etag: components["headers"]["etag"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receiver"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description In this status. */
                status?: components["schemas"]["DeliveryStatus"];
                /** @description Of this event. */
                event?: components["schemas"]["EventName"];
                /** @description Accepted at or after this time. */
                since?: string;
                /** @description Accepted before this time. */
                until?: string;
                /** @description Whose last attempt has this `error`, or which have this `reason`. */
                error?: string;
                /** @description Whose last attempt was answered with this status, or with one of this hundred: `503`, `5xx`. */
                httpStatus?: string;
                /** @description The `sinceCursor` of an earlier list: what was accepted since then, and again some of the half minute before. */
                sinceCursor?: string;
                /** @description How many items a page may hold, from 1 to 100. Default: 50. */
                limit?: number;
                /** @description The `nextCursor` of the page before. */
                cursor?: string;
                /** @description Of this receiver. */
                receiverId?: string;
                /** @description Of this callback of a Task. */
                callbackId?: string;
                /**
                 * @deprecated
                 * @description The former name of `receiverId` and `callbackId`.
                 */
                receiver?: string;
                /** @description About this Task. */
                taskId?: string;
                /** @description About this transition: the `id` in the body of an event. All of them on one page; of those that have left for the history, only those to receivers. */
                transitionId?: string;
                /**
                 * @deprecated
                 * @description The former name of `taskId`.
                 */
                task?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /** @description `receiver_not_found`: The workspace has no such receiver. */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            /**
             * @description `history_unavailable`: The history of deliveries (PostgreSQL) cannot be reached now. What is in Redis is still answered.
             *
             *     `unavailable`: Redis, or the workers, cannot be reached now.
             */
            503: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["problem"];
        };
    };
    readDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a delivery. The same on every try, another for every transition and endpoint. */
                id: components["schemas"]["DeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryWithAttempts"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `delivery_not_found`: The workspace has no such delivery.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            /**
             * @description `history_unavailable`: The history of deliveries (PostgreSQL) cannot be reached now. What is in Redis is still answered.
             *
             *     `unavailable`: Redis, or the workers, cannot be reached now.
             */
            503: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["problem"];
        };
    };
    redeliverDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a delivery. The same on every try, another for every transition and endpoint. */
                id: components["schemas"]["DeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The delivery, with one more pending redelivery. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `delivery_not_found`: The workspace has no such delivery.
             *
             *     `receiver_not_found`: The workspace has no such receiver.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `receiver_disabled`: The receiver or the callback is disabled.
             *
             *     `receiver_locked`: The platform disabled the receiver or the callback, and locked it. It stays as it is, and nothing is sent to it.
             *
             *     `payload_erased`: The payload of the delivery was erased.
             *
             *     `payload_not_kept`: The payload of the delivery is no longer kept: the service keeps none in its history.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            /**
             * @description `history_unavailable`: The history of deliveries (PostgreSQL) cannot be reached now. What is in Redis is still answered.
             *
             *     `unavailable`: Redis, or the workers, cannot be reached now.
             */
            503: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["problem"];
        };
    };
    readReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a replay. */
                id: components["schemas"]["ReplayId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replay. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `replay_not_found`: The workspace has no such replay.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    stopReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a replay. */
                id: components["schemas"]["ReplayId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stopped replay. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `replay_not_found`: The workspace has no such replay.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    readStats: {
        parameters: {
            query?: {
                /** @description How far back it looks. Default: 24h. */
                window?: components["schemas"]["StatsWindow"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statistics. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    readActivity: {
        parameters: {
            query?: {
                /** @description Of this receiver. */
                receiverId?: string;
                /** @description Of this callback of a Task. */
                callbackId?: string;
                /**
                 * @deprecated
                 * @description The former name of `receiverId` and `callbackId`.
                 */
                receiver?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Activity"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /** @description `receiver_not_found`: The workspace has no such receiver. */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listenToEvents: {
        parameters: {
            query?: {
                /** @description Names of events, with commas between them. Absent: every event. */
                events?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. It stays open. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /** @description `listener_limit_reached`: As many listen to the workspace as may. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listWorkspaceTasks: {
        parameters: {
            query?: {
                /** @description In this status. */
                status?: components["schemas"]["TaskStatus"];
                /** @description Created at or after this time. */
                since?: string;
                /** @description Created before this time. */
                until?: string;
                /** @description How many items a page may hold, from 1 to 100. Default: 50. */
                limit?: number;
                /** @description The `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPage"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    createTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateTask"];
            };
        };
        responses: {
            /** @description The Task. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    location: components["headers"]["location"];
                    "cache-control": components["headers"]["cache-control"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskCreation"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            /**
             * @description `insufficient_scope`: The API key lacks the scope of the operation, or a portal link may not use it.
             *
             *     `workspace_not_bound`: A key of a workspace named an execution workspace that is neither its own nor one that the platform has bound to it.
             */
            403: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    readTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Task. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FullTask"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    addMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddMessage"];
            };
        };
        responses: {
            /** @description The message. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageAdded"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `task_closed`: The Task is done or canceled and takes nothing more.
             *
             *     `invalid_transition`: The Task's state doesn't allow it.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    resolveApproval: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
                /** @description Id of an approval request: the `approval_request.id` of the event. */
                approvalId: components["schemas"]["ApprovalId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveApproval"];
            };
        };
        responses: {
            /** @description The decision. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalResolved"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            /**
             * @description `insufficient_scope`: The API key lacks the scope of the operation, or a portal link may not use it.
             *
             *     `not_api_resolvable`: The `api_resolvable` of the action is false: a key of its workspace may not resolve it.
             */
            403: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             *
             *     `approval_not_found`: The current action of the Task has no such approval request.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `task_closed`: The Task is done or canceled and takes nothing more.
             *
             *     `stale_action_version`: Another action version is the current one.
             *
             *     `invalid_transition`: The Task's state doesn't allow it.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    cancelTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The transition. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedTransition"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `invalid_transition`: The Task's state doesn't allow it.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    closeTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CloseTask"];
            };
        };
        responses: {
            /** @description The transition. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedTransition"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `invalid_transition`: The Task's state doesn't allow it.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listTaskDeliveries: {
        parameters: {
            query?: {
                /** @description Transitions in a page, from 1 to 100. Each is shown with all its deliveries. Default: 50. */
                limit?: number;
                /** @description The `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            /**
             * @description `history_unavailable`: The history of deliveries (PostgreSQL) cannot be reached now. What is in Redis is still answered.
             *
             *     `unavailable`: Redis, or the workers, cannot be reached now.
             */
            503: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["problem"];
        };
    };
    changeCallback: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchCallback"];
            };
        };
        responses: {
            /** @description The callback as it is now. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Callback"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             *
             *     `callback_not_found`: The Task has no callback.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `receiver_locked`: The platform disabled the receiver or the callback, and locked it. It stays as it is, and nothing is sent to it.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    rotateCallbackSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateSecret"];
            };
        };
        responses: {
            /** @description The new secret. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "cache-control": components["headers"]["cache-control"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretRotation"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             *
             *     `callback_not_found`: The Task has no callback.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    erasePayloads: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Nothing of it is left. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayloadsErased"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `task_open`: The Task is not done or canceled yet. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            /**
             * @description `history_unavailable`: The history of deliveries (PostgreSQL) cannot be reached now. What is in Redis is still answered.
             *
             *     `unavailable`: Redis, or the workers, cannot be reached now.
             */
            503: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["problem"];
        };
    };
    reportTransition: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransitionReport"];
            };
        };
        responses: {
            /** @description Accepted. Its events will be delivered. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedTransition"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `invalid_transition`: The Task's state doesn't allow it.
             *
             *     `stale_action_version`: Another action version is the current one.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    reportTransitions: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransitionBatch"];
            };
        };
        responses: {
            /** @description A result or a problem for each item. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchResults"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    resolveAnyApproval: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
                /** @description Id of an approval request: the `approval_request.id` of the event. */
                approvalId: components["schemas"]["ApprovalId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveApproval"];
            };
        };
        responses: {
            /** @description The decision. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalResolved"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             *
             *     `approval_not_found`: The current action of the Task has no such approval request.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `task_closed`: The Task is done or canceled and takes nothing more.
             *
             *     `stale_action_version`: Another action version is the current one.
             *
             *     `invalid_transition`: The Task's state doesn't allow it.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listTasks: {
        parameters: {
            query: {
                /** @description In this status. */
                status: components["schemas"]["TaskStatus"];
                /** @description How many items a page may hold, from 1 to 100. Default: 50. */
                limit?: number;
                /** @description The `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutorTaskPage"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    readExecutorTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a Task. */
                id: components["schemas"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Task. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutorTask"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `task_not_found`: The workspace has no such Task.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    isAlive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It lives. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
            400: components["responses"]["malformed_request"];
            default: components["responses"]["problem"];
        };
    };
    isReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is ready. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            400: components["responses"]["malformed_request"];
            /** @description The process is not ready. `problems` says why. */
            503: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            default: components["responses"]["problem"];
        };
    };
    readStartPage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The links. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartLinks"];
                    "text/html": string;
                };
            };
            400: components["responses"]["malformed_request"];
            422: components["responses"]["validation_failed"];
            default: components["responses"]["problem"];
        };
    };
    listErrorCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The codes. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorCodes"];
                    "text/html": string;
                };
            };
            400: components["responses"]["malformed_request"];
            422: components["responses"]["validation_failed"];
            default: components["responses"]["problem"];
        };
    };
    listPortalLinks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The links. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortalLinkList"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    createPortalLink: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreatePortalLink"];
            };
        };
        responses: {
            /** @description The link. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "cache-control": components["headers"]["cache-control"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortalLinkCreation"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `portal_link_limit_reached`: The workspace already has as many portal links as it may.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    revokePortalLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a portal link. It lets nobody in: the token does. */
                id: components["schemas"]["PortalLinkId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It has ended. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortalLinkDeleted"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `portal_link_not_found`: The workspace has no such portal link: it has ended, or there never was one.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    readAccess: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspace and its limits. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Access"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listWorkspaceKeys: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceKeyList"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    createWorkspaceKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateWorkspaceKey"];
            };
        };
        responses: {
            /** @description The key, shown this once. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "cache-control": components["headers"]["cache-control"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceKeyCreation"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `key_limit_reached`: The workspace already has as many API keys as the platform may make for it.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    revokeWorkspaceKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: string;
                /** @description Id of an API key. It lets nobody in: the key does. */
                keyId: components["schemas"]["ApiKeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is revoked. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceKeyRevoked"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             *
             *     `key_not_found`: The workspace has no such API key: it has ended, or there never was one.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listWorkspacePortalLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The links. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortalLinkList"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    createWorkspacePortalLink: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreatePortalLink"];
            };
        };
        responses: {
            /** @description The link. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "cache-control": components["headers"]["cache-control"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortalLinkCreation"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `portal_link_limit_reached`: The workspace already has as many portal links as it may.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    revokeWorkspacePortalLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: string;
                /** @description Id of a portal link. It lets nobody in: the token does. */
                linkId: components["schemas"]["PortalLinkId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It has ended. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortalLinkDeleted"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             *
             *     `portal_link_not_found`: The workspace has no such portal link: it has ended, or there never was one.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    createWorkspaceTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateTask"];
            };
        };
        responses: {
            /** @description The Task. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    location: components["headers"]["location"];
                    "cache-control": components["headers"]["cache-control"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskCreation"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listExecutionWorkspaces: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bindings. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BindingList"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    bindExecutionWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description A request that is repeated with the same key and body takes effect once, within 24 hours. A key belongs to one API key and path. The repeated answer leaves the secret out. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BindExecutionWorkspace"];
            };
        };
        responses: {
            /** @description The two are bound. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "idempotency-replayed": components["headers"]["idempotency-replayed"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Binding"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `binding_limit_reached`: The workspace is already bound to as many execution workspaces as it may be.
             *
             *     `idempotency_conflict`: This `Idempotency-Key` came with another body.
             *
             *     `request_in_progress`: The first request with this `Idempotency-Key` is not answered yet.
             */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    /**
                     * @description Seconds to wait before the next try.
                     * @example 2
                     */
                    "retry-after"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            /**
             * @description `workspace_full`: The workspace has as many deliveries pending as it may, or its Tasks, facts, bodies, attempts and kept answers take as much as they may. What would add to that is refused to it alone: its reports and Tasks, test events and redeliveries, and a POST with a new `Idempotency-Key`. Its replays wait.
             *
             *     `rate_limited`: Too many requests of this workspace, or too many failed authentications from this address.
             */
            429: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    unbindExecutionWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: string;
                executionWorkspaceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The two are not bound any more. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BindingEnded"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    eraseWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was erased. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    ratelimit: components["headers"]["ratelimit"];
                    "ratelimit-policy": components["headers"]["ratelimit-policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceErasure"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["insufficient_scope"];
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            /**
             * @description `history_unavailable`: The history of deliveries (PostgreSQL) cannot be reached now. What is in Redis is still answered.
             *
             *     `unavailable`: Redis, or the workers, cannot be reached now.
             */
            503: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["problem"];
        };
    };
    readOverview: {
        parameters: {
            query?: {
                /** @description How far back the buckets go. Default: 1h. */
                window?: components["schemas"]["OverviewWindow"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state now. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listWaitingReceivers: {
        parameters: {
            query?: {
                /** @description How many items a page may hold, from 1 to 100. Default: 50. */
                limit?: number;
                /** @description An id, or a part of a host or of a workspace. */
                find?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receivers. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingReceiverList"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    searchService: {
        parameters: {
            query: {
                /** @description An id, or a part of a host or of a workspace. */
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResults"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listFailedDeliveries: {
        parameters: {
            query?: {
                /** @description How many items a page may hold, from 1 to 100. Default: 50. */
                limit?: number;
                /** @description The `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailedPage"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description What was done to this workspace. */
                workspaceId?: string;
                /**
                 * @deprecated
                 * @description The former name of `workspaceId`.
                 */
                workspace?: string;
                /** @description What this one did: `key_…`, `plk_…`, `operator` or `cli`. */
                by?: string;
                /** @description Done at or after this time. */
                since?: string;
                /** @description How many items a page may hold, from 1 to 100. Default: 50. */
                limit?: number;
                /** @description The `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
            400: components["responses"]["malformed_request"];
            401: components["responses"]["unauthenticated"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            /**
             * @description `history_unavailable`: The history of deliveries (PostgreSQL) cannot be reached now. What is in Redis is still answered.
             *
             *     `unavailable`: Redis, or the workers, cannot be reached now.
             */
            503: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["problem"];
        };
    };
    openWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["OpenWorkspace"];
            };
        };
        responses: {
            /** @description The link. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "cache-control": components["headers"]["cache-control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PortalLink"];
                };
            };
            /**
             * @description `malformed_request`: The request is not HTTP/1.1, or sends `Host` or `Authorization` twice.
             *
             *     `invalid_json`: The body is not valid JSON, or ended early.
             */
            400: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["unauthenticated"];
            /** @description `foreign_origin`: A page of another site asked for a change on the operator pages. */
            403: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `route_not_found`: There is nothing at this path.
             *
             *     `workspace_not_found`: Nothing is known of such a workspace.
             */
            404: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `portal_link_limit_reached`: The workspace already has as many portal links as it may. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
            default: components["responses"]["problem"];
        };
    };
    onTaskCheckIn: {
        parameters: {
            query?: never;
            header: {
                /** @description The event. */
                "x-service-event": "task.check_in";
                /** @description `sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time. */
                "x-service-signature": string;
                /** @description Id of the delivery, the same on every try. Ignore a delivery that you have processed. */
                "x-service-delivery": components["schemas"]["DeliveryId"];
                /** @description The same id, for Standard Webhooks. */
                "webhook-id": components["schemas"]["DeliveryId"];
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space. */
                "webhook-signature": string;
                "x-service-sample"?: "true";
                "x-service-ordering"?: "released";
                "content-type": "application/json";
                "user-agent": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckInPayload"];
            };
        };
        responses: {
            /** @description The endpoint is gone. Herald disables it. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Delivered. Answer within 15 seconds, and do the work afterwards. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried on the schedule. A redirect is a failure too. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onTaskRequiresAction: {
        parameters: {
            query?: never;
            header: {
                /** @description The event. */
                "x-service-event": "task.requires_action";
                /** @description `sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time. */
                "x-service-signature": string;
                /** @description Id of the delivery, the same on every try. Ignore a delivery that you have processed. */
                "x-service-delivery": components["schemas"]["DeliveryId"];
                /** @description The same id, for Standard Webhooks. */
                "webhook-id": components["schemas"]["DeliveryId"];
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space. */
                "webhook-signature": string;
                "x-service-sample"?: "true";
                "x-service-ordering"?: "released";
                "content-type": "application/json";
                "user-agent": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["RequiresActionPayload"];
            };
        };
        responses: {
            /** @description The endpoint is gone. Herald disables it. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Delivered. Answer within 15 seconds, and do the work afterwards. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried on the schedule. A redirect is a failure too. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onTaskDone: {
        parameters: {
            query?: never;
            header: {
                /** @description The event. */
                "x-service-event": "task.done";
                /** @description `sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time. */
                "x-service-signature": string;
                /** @description Id of the delivery, the same on every try. Ignore a delivery that you have processed. */
                "x-service-delivery": components["schemas"]["DeliveryId"];
                /** @description The same id, for Standard Webhooks. */
                "webhook-id": components["schemas"]["DeliveryId"];
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space. */
                "webhook-signature": string;
                "x-service-sample"?: "true";
                "x-service-ordering"?: "released";
                "content-type": "application/json";
                "user-agent": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["DonePayload"];
            };
        };
        responses: {
            /** @description The endpoint is gone. Herald disables it. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Delivered. Answer within 15 seconds, and do the work afterwards. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried on the schedule. A redirect is a failure too. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onTaskCanceled: {
        parameters: {
            query?: never;
            header: {
                /** @description The event. */
                "x-service-event": "task.canceled";
                /** @description `sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time. */
                "x-service-signature": string;
                /** @description Id of the delivery, the same on every try. Ignore a delivery that you have processed. */
                "x-service-delivery": components["schemas"]["DeliveryId"];
                /** @description The same id, for Standard Webhooks. */
                "webhook-id": components["schemas"]["DeliveryId"];
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space. */
                "webhook-signature": string;
                "x-service-sample"?: "true";
                "x-service-ordering"?: "released";
                "content-type": "application/json";
                "user-agent": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CanceledPayload"];
            };
        };
        responses: {
            /** @description The endpoint is gone. Herald disables it. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Delivered. Answer within 15 seconds, and do the work afterwards. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried on the schedule. A redirect is a failure too. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookTest: {
        parameters: {
            query?: never;
            header: {
                /** @description The event. */
                "x-service-event": "webhook.test";
                /** @description `sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time. */
                "x-service-signature": string;
                /** @description Id of the delivery, the same on every try. Ignore a delivery that you have processed. */
                "x-service-delivery": components["schemas"]["DeliveryId"];
                /** @description The same id, for Standard Webhooks. */
                "webhook-id": components["schemas"]["DeliveryId"];
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space. */
                "webhook-signature": string;
                "content-type": "application/json";
                "user-agent": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestPayload"];
            };
        };
        responses: {
            /** @description The endpoint is gone. Herald disables it. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Delivered. Answer within 15 seconds, and do the work afterwards. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried on the schedule. A redirect is a failure too. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onReceiverFailing: {
        parameters: {
            query?: never;
            header: {
                /** @description The event. */
                "x-service-event": "receiver.failing";
                /** @description `sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time. */
                "x-service-signature": string;
                /** @description Id of the delivery, the same on every try. Ignore a delivery that you have processed. */
                "x-service-delivery": components["schemas"]["DeliveryId"];
                /** @description The same id, for Standard Webhooks. */
                "webhook-id": components["schemas"]["DeliveryId"];
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space. */
                "webhook-signature": string;
                "x-service-sample"?: "true";
                "content-type": "application/json";
                "user-agent": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReceiverFailingPayload"];
            };
        };
        responses: {
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Delivered. Answer within 15 seconds, and do the work afterwards. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried on the schedule. A redirect is a failure too. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onReceiverDisabled: {
        parameters: {
            query?: never;
            header: {
                /** @description The event. */
                "x-service-event": "receiver.disabled";
                /** @description `sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time. */
                "x-service-signature": string;
                /** @description Id of the delivery, the same on every try. Ignore a delivery that you have processed. */
                "x-service-delivery": components["schemas"]["DeliveryId"];
                /** @description The same id, for Standard Webhooks. */
                "webhook-id": components["schemas"]["DeliveryId"];
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space. */
                "webhook-signature": string;
                "x-service-sample"?: "true";
                "content-type": "application/json";
                "user-agent": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReceiverDisabledPayload"];
            };
        };
        responses: {
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Delivered. Answer within 15 seconds, and do the work afterwards. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried on the schedule. A redirect is a failure too. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onReceiverRecovered: {
        parameters: {
            query?: never;
            header: {
                /** @description The event. */
                "x-service-event": "receiver.recovered";
                /** @description `sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time. */
                "x-service-signature": string;
                /** @description Id of the delivery, the same on every try. Ignore a delivery that you have processed. */
                "x-service-delivery": components["schemas"]["DeliveryId"];
                /** @description The same id, for Standard Webhooks. */
                "webhook-id": components["schemas"]["DeliveryId"];
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space. */
                "webhook-signature": string;
                "x-service-sample"?: "true";
                "content-type": "application/json";
                "user-agent": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReceiverRecoveredPayload"];
            };
        };
        responses: {
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Delivered. Answer within 15 seconds, and do the work afterwards. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried on the schedule. A redirect is a failure too. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCallbackDisabled: {
        parameters: {
            query?: never;
            header: {
                /** @description The event. */
                "x-service-event": "callback.disabled";
                /** @description `sha256=` and the lowercase hex HMAC-SHA256 of the raw body. The key is the secret exactly as shown. Compare in constant time. */
                "x-service-signature": string;
                /** @description Id of the delivery, the same on every try. Ignore a delivery that you have processed. */
                "x-service-delivery": components["schemas"]["DeliveryId"];
                /** @description The same id, for Standard Webhooks. */
                "webhook-id": components["schemas"]["DeliveryId"];
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the secret after `whsec_`, decoded from base64. During a rotation there are two signatures, separated by a space. */
                "webhook-signature": string;
                "x-service-sample"?: "true";
                "content-type": "application/json";
                "user-agent": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The signature covers the raw body. Verify it before you parse it. The request also has the headers that its endpoint was given as `headers`. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallbackDisabledPayload"];
            };
        };
        responses: {
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried later. `Retry-After` pauses all deliveries to this host. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Delivered. Answer within 15 seconds, and do the work afterwards. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Retried on the schedule. A redirect is a failure too. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
