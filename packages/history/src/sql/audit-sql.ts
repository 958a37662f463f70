/** Entries that are here already stay as they are. $1: id[]   $2: by[]   $3: workspace_id[]   $4: entry[], as JSON */
export const INSERT_AUDIT = `
INSERT INTO herald.audit (id, by, workspace_id, entry)
SELECT id, by, workspace_id, entry::jsonb
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS given (id, by, workspace_id, entry)
ON CONFLICT (id) DO NOTHING`;

/**
 * Newest first. $1: workspace or null: all   $2: by or null: anybody   $3: before this id   $4: from this id on
 * $5: limit
 */
export const LIST_AUDIT = `
SELECT entry FROM herald.audit
WHERE ($1::text IS NULL OR workspace_id = $1) AND ($2::text IS NULL OR by = $2) AND id < $3 AND id >= $4
ORDER BY id DESC LIMIT $5`;

/** The oldest first. $1: before this id   $2: at most so many */
export const DELETE_AUDIT = `
DELETE FROM herald.audit WHERE id IN (SELECT id FROM herald.audit WHERE id < $1 ORDER BY id LIMIT $2)`;
