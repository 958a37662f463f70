-- Settled deliveries, and the transitions that they tell of. Times are epoch ms, and days are days of UTC.
-- Ids are bytes whose order is the order of their texts (src/reading/delivery-row.ts).
-- Each day has a partition of both tables: src/partitions makes and drops them.

-- A transition, once for all of its deliveries. It has the created_at of its deliveries.
CREATE TABLE herald.transitions (
  created_at bigint NOT NULL,
  -- When its Task's payloads were erased; the body is gone then.
  erased_at bigint,
  -- Its place among the transitions of its Task; unknown of one whose body was erased before it came here.
  sequence integer,
  id bytea NOT NULL,
  -- The event of which it is a sample.
  sample_of text,
  request_id text,
  traceparent text,
  -- The bytes that are sent, as UTF-8. Absent when they are erased, or bodies are left out.
  body text,
  PRIMARY KEY (created_at, id)
) PARTITION BY RANGE (created_at);

CREATE TABLE herald.deliveries (
  created_at bigint NOT NULL,
  settled_at bigint NOT NULL,
  -- When it changed last: of two versions, the one that changed later wins.
  changed_at bigint NOT NULL,
  -- From when its schedule counts, if it was replayed.
  scheduled_at bigint,
  tries integer NOT NULL,
  -- Of an ordered one: the sequence by which it stood in line.
  place integer,
  is_released boolean NOT NULL,
  id bytea NOT NULL,
  transition_id bytea NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  -- Absent of a test event.
  task_id text COLLATE "C",
  event text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  reason text,
  -- A JSON array of the entries of its log, as Redis had them (packages/store/src/deliveries/attempt-record.ts).
  attempts text NOT NULL,
  PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);

-- Deliveries of one millisecond are sorted by id when they are read: with the id, each index would be twice as large.
CREATE INDEX deliveries_endpoint ON herald.deliveries (endpoint_id, created_at);
CREATE INDEX deliveries_workspace ON herald.deliveries (workspace_id, created_at);
CREATE INDEX deliveries_task ON herald.deliveries (task_id, created_at) WHERE task_id IS NOT NULL;
