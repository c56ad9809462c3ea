-- retailers/matching/propose.sql: pairs of stores for a person to decide; a store that was deleted meanwhile is left out. $evidence: lines
-- of text
INSERT INTO retailer_proposals (rank, one, other, evidence)
SELECT p.rank, p.one, p.other, string_to_array(p.evidence, E'\n')
  FROM unnest($ranks::int[], $ones::bigint[], $others::bigint[], $evidence::text[]) AS p(rank, one, other, evidence)
  JOIN dispensaries a ON a.id = p.one
  JOIN dispensaries b ON b.id = p.other
    ON CONFLICT DO NOTHING;
