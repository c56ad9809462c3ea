-- products/search/as_query.sql: the words of $1 as a tsquery, each of which may be the beginning of a longer one; null: there is none.
SELECT string_agg(quote_literal(word) || ':*', ' & ') FROM unnest(tsvector_to_array(to_tsvector('simple', $1))) AS word;
