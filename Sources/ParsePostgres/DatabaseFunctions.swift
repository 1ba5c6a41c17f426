import Postgres

/// Functions that conditions call for what stands inside of arrays and objects.
///
/// They say in SQL what `PathValues`, `FieldValue.init(stored:)`, `GeoArea` and `SortValue` of core say. The version is
/// part of the name of their schema: processes of two versions can share a database while one replaces the other.
enum DatabaseFunctions {
    static let name = "martlet_functions_1"
    static let namespace = PostgresIdentifier.quoted(name)

    /// The statements that make them where they are not there yet; to be run under a lock.
    static var installation: [PostgresStatement] {
        let scripts = [
            "CREATE SCHEMA \(namespace)", instant, form, path, candidates, sorting, places, limits,
        ]
        return scripts.flatMap(statements).map { PostgresStatement($0, isReusable: false) }
    }

    /// The statements of a script, each of which begins a line with `CREATE`.
    private static func statements(_ script: String) -> [String] {
        var statements: [String] = []
        for line in script.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("CREATE ") || statements.isEmpty { statements.append("") }
            statements[statements.count - 1] += line + "\n"
        }
        return statements
    }

    /// Milliseconds of an ISO-8601 text, NULL for what core does not take for one.
    private static let instant = #"""
        CREATE FUNCTION \#(namespace).instant(value text) RETURNS bigint
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
        DECLARE
            part text[] := regexp_match(value COLLATE "C",
                '^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?'
                '(?:Z|([+-])([0-9]{2}):?([0-9]{2}))?)?$');
            y bigint; m bigint; d bigint; lengths bigint[]; era bigint; year_of_era bigint; days bigint; ms bigint;
        BEGIN
            IF part IS NULL THEN RETURN NULL; END IF;
            y := part[1]::bigint; m := part[2]::bigint; d := part[3]::bigint;
            lengths := ARRAY[31, CASE WHEN (y % 4 = 0 AND y % 100 <> 0) OR y % 400 = 0 THEN 29 ELSE 28 END,
                31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            IF m < 1 OR m > 12 OR d < 1 OR d > lengths[m] THEN RETURN NULL; END IF;
            IF m <= 2 THEN y := y - 1; END IF;
            era := floor(y / 400.0)::bigint;
            year_of_era := y - era * 400;
            days := era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100
                + (153 * (CASE WHEN m > 2 THEN m - 3 ELSE m + 9 END) + 2) / 5 + d - 1 - 719468;
            IF part[4] IS NULL THEN RETURN days * 86400000; END IF;
            IF part[4]::bigint > 24 OR part[5]::bigint > 59 OR coalesce(part[6], '0')::bigint > 59
                OR coalesce(part[9], '0')::bigint > 23 OR coalesce(part[10], '0')::bigint > 59
            THEN RETURN NULL; END IF;
            ms := (part[4]::bigint * 60 + part[5]::bigint) * 60000 + coalesce(part[6], '0')::bigint * 1000
                + rpad(left(coalesce(part[7], '0'), 3), 3, '0')::bigint;
            IF ms > 86400000 THEN RETURN NULL; END IF;
            IF part[8] IS NOT NULL THEN
                ms := ms - (part[8] || '1')::bigint * (part[9]::bigint * 60 + part[10]::bigint) * 60000;
            END IF;
            RETURN days * 86400000 + ms;
        END $body$;
        """#

    /// What a JSON value stands for, in a form that is equal for equal values.
    private static let form = """
        CREATE FUNCTION \(namespace).form(value jsonb) RETURNS jsonb
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
        DECLARE
            ms bigint; points jsonb;
        BEGIN
            IF value IS NULL OR jsonb_typeof(value) <> 'object' OR jsonb_typeof(value->'__type') IS DISTINCT FROM 'string'
            THEN RETURN value; END IF;
            CASE value->>'__type'
            WHEN 'Date' THEN
                IF jsonb_typeof(value->'iso') = 'string' THEN
                    ms := \(namespace).instant(value->>'iso');
                    IF ms IS NOT NULL THEN RETURN jsonb_build_object('__type', '$Date', 'ms', ms); END IF;
                END IF;
            WHEN 'Pointer' THEN
                IF jsonb_typeof(value->'className') = 'string' AND jsonb_typeof(value->'objectId') = 'string' THEN
                    RETURN jsonb_build_object('__type', 'Pointer', 'className', value->'className',
                        'objectId', value->'objectId');
                END IF;
            WHEN 'GeoPoint' THEN
                IF jsonb_typeof(value->'latitude') = 'number' AND jsonb_typeof(value->'longitude') = 'number' THEN
                    RETURN jsonb_build_object('__type', 'GeoPoint', 'latitude', value->'latitude',
                        'longitude', value->'longitude');
                END IF;
            WHEN 'File' THEN
                IF jsonb_typeof(value->'name') = 'string' THEN
                    RETURN jsonb_build_object('__type', 'File', 'name', value->'name');
                END IF;
            WHEN 'Bytes' THEN
                IF jsonb_typeof(value->'base64') = 'string' THEN
                    RETURN jsonb_build_object('__type', 'Bytes', 'base64', value->'base64');
                END IF;
            WHEN 'Polygon' THEN
                IF jsonb_typeof(value->'coordinates') = 'array' THEN
                    SELECT jsonb_agg(CASE jsonb_typeof(point) WHEN 'array' THEN
                        (SELECT coalesce(jsonb_agg(number ORDER BY place), '[]')
                        FROM jsonb_array_elements(point) WITH ORDINALITY AS n(number, place)
                        WHERE jsonb_typeof(number) = 'number') ELSE '[]' END ORDER BY position)
                    INTO points FROM jsonb_array_elements(value->'coordinates') WITH ORDINALITY AS p(point, position);
                    IF jsonb_array_length(points) >= 3
                        AND NOT EXISTS (SELECT FROM jsonb_array_elements(points) AS p WHERE jsonb_array_length(p) <> 2)
                    THEN
                        IF points->0 <> points->-1 THEN points := points || jsonb_build_array(points->0); END IF;
                        RETURN jsonb_build_object('__type', 'Polygon', 'coordinates', points);
                    END IF;
                END IF;
            ELSE
            END CASE;
            RETURN value;
        END $body$;
        """

    /// The values that a path leads to, NULL where it breaks off.
    private static let path = """
        CREATE FUNCTION \(namespace).path(value jsonb, keys text[]) RETURNS SETOF jsonb
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
        DECLARE
            element jsonb; position int;
        BEGIN
            IF cardinality(keys) = 0 THEN
                RETURN NEXT value;
            ELSIF jsonb_typeof(value) = 'object' THEN
                IF value ? keys[1] THEN
                    RETURN QUERY SELECT * FROM \(namespace).path(value->keys[1], keys[2:]);
                ELSE
                    RETURN NEXT NULL;
                END IF;
            ELSIF jsonb_typeof(value) = 'array' THEN
                IF keys[1] COLLATE "C" ~ '^[0-9]{1,9}$' THEN
                    position := keys[1]::int;
                    IF position < jsonb_array_length(value) THEN
                        RETURN QUERY SELECT * FROM \(namespace).path(value->position, keys[2:]);
                    ELSE
                        RETURN NEXT NULL;
                    END IF;
                END IF;
                FOR element IN SELECT e FROM jsonb_array_elements(value) AS e WHERE jsonb_typeof(e) = 'object' LOOP
                    RETURN QUERY SELECT * FROM \(namespace).path(element, keys);
                END LOOP;
            ELSE
                RETURN NEXT NULL;
            END IF;
        END $body$;
        """

    /// What a condition has to be tried on: the values of the path and the elements of those that are arrays; and the
    /// parts that two fields must share, where an array is nothing but its elements.
    private static let candidates = """
        CREATE FUNCTION \(namespace).candidates(value jsonb, keys text[]) RETURNS SETOF jsonb
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
        DECLARE
            found jsonb;
        BEGIN
            FOR found IN SELECT * FROM \(namespace).path(value, keys) LOOP
                RETURN NEXT \(namespace).form(found);
                IF jsonb_typeof(found) = 'array' THEN
                    RETURN QUERY SELECT \(namespace).form(e) FROM jsonb_array_elements(found) AS e;
                END IF;
            END LOOP;
        END $body$;
        CREATE FUNCTION \(namespace).parts(value jsonb, keys text[]) RETURNS SETOF jsonb
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
        DECLARE
            found jsonb;
        BEGIN
            FOR found IN SELECT * FROM \(namespace).path(value, keys) LOOP
                IF jsonb_typeof(found) = 'array' THEN
                    RETURN QUERY SELECT \(namespace).form(e) FROM jsonb_array_elements(found) AS e
                        WHERE e <> 'null'::jsonb;
                ELSIF found <> 'null'::jsonb THEN
                    RETURN NEXT \(namespace).form(found);
                END IF;
            END LOOP;
        END $body$;
        """

    /// The lowest or highest of the values of a path, in an order that all types have among each other.
    private static let sorting = """
        CREATE TYPE \(namespace).place AS (rank int, number numeric, word text COLLATE "C");
        CREATE FUNCTION \(namespace).place_of(value jsonb) RETURNS \(namespace).place
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
        BEGIN
            CASE jsonb_typeof(value)
            WHEN 'number' THEN RETURN ROW(1, value::numeric, '')::\(namespace).place;
            WHEN 'string' THEN RETURN ROW(2, 0, value #>> '{}')::\(namespace).place;
            WHEN 'boolean' THEN RETURN ROW(4, value::boolean::int, '')::\(namespace).place;
            WHEN 'object' THEN
                IF jsonb_typeof(value->'__type') = 'string' THEN
                    CASE value->>'__type'
                    WHEN '$Date' THEN
                        IF jsonb_typeof(value->'ms') = 'number' THEN RETURN ROW(5, (value->'ms')::numeric, '')::\(namespace).place; END IF;
                    WHEN 'Pointer' THEN
                        IF jsonb_typeof(value->'className') = 'string' AND jsonb_typeof(value->'objectId') = 'string'
                        THEN RETURN ROW(2, 0, value->>'objectId')::\(namespace).place; END IF;
                    WHEN 'File' THEN
                        IF jsonb_typeof(value->'name') = 'string' THEN RETURN ROW(2, 0, value->>'name')::\(namespace).place; END IF;
                    ELSE
                    END CASE;
                END IF;
                RETURN ROW(3, 0, '')::\(namespace).place;
            WHEN 'array' THEN RETURN ROW(3, 0, '')::\(namespace).place;
            ELSE RETURN ROW(0, 0, '')::\(namespace).place;
            END CASE;
        END $body$;
        CREATE FUNCTION \(namespace).extreme(value jsonb, keys text[], highest boolean)
        RETURNS \(namespace).place LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
        DECLARE
            found jsonb; element jsonb; best \(namespace).place; next \(namespace).place;
        BEGIN
            FOR found IN SELECT * FROM \(namespace).path(value, keys) LOOP
                FOR element IN SELECT e FROM jsonb_array_elements(
                    CASE jsonb_typeof(found) WHEN 'array' THEN found
                    ELSE jsonb_build_array(coalesce(found, 'null')) END) AS e
                LOOP
                    next := \(namespace).place_of(\(namespace).form(element));
                    IF best.rank IS NULL OR (CASE WHEN highest THEN next > best ELSE next < best END) THEN
                        best := next;
                    END IF;
                END LOOP;
            END LOOP;
            IF best.rank IS NULL THEN RETURN ROW(0, 0, '')::\(namespace).place; END IF;
            RETURN best;
        END $body$;
        """

    /// PostgreSQL takes a product that is too small for a number for an error; so that there is none, coordinates that
    /// are next to nothing count as nothing.
    private static let places = """
        CREATE FUNCTION \(namespace).snap(value double precision) RETURNS double precision
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
            SELECT CASE WHEN abs(value) < 1e-100 THEN 0 ELSE value END
        $body$;
        CREATE FUNCTION \(namespace).radians(
            latitude double precision, longitude double precision,
            other_latitude double precision, other_longitude double precision)
        RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
            SELECT 2 * asin(CASE WHEN chord > 1 THEN 1 ELSE chord END)
            FROM (SELECT sqrt(a * a + cos(p * (pi() / 180)) * cos(q * (pi() / 180)) * b * b) AS chord FROM (SELECT p, q, \(namespace).snap(sin((q - p) * (pi() / 180) / 2)) AS a,
                \(namespace).snap(sin((\(namespace).snap(other_longitude) - \(namespace).snap(longitude))
                * (pi() / 180) / 2)) AS b
                FROM (SELECT \(namespace).snap(latitude) AS p, \(namespace).snap(other_latitude) AS q) AS x) AS y) AS z
        $body$;
        CREATE FUNCTION \(namespace).encloses(
            latitudes double precision[], longitudes double precision[],
            point_latitude double precision, point_longitude double precision)
        RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
        DECLARE
            n int := cardinality(latitudes); inside boolean := false;
            latitude double precision := \(namespace).snap(point_latitude);
            longitude double precision := \(namespace).snap(point_longitude);
            a double precision; b double precision; c double precision; d double precision;
        BEGIN
            IF n = 0 THEN RETURN false; END IF;
            a := \(namespace).snap(latitudes[n]); b := \(namespace).snap(longitudes[n]);
            FOR i IN 1..n LOOP
                c := \(namespace).snap(latitudes[i]); d := \(namespace).snap(longitudes[i]);
                IF (d - b) * (latitude - a) - (c - a) * (longitude - b) = 0
                    AND least(a, c) <= latitude AND latitude <= greatest(a, c)
                    AND least(b, d) <= longitude AND longitude <= greatest(b, d)
                THEN RETURN true; END IF;
                IF (c > latitude) <> (a > latitude)
                    AND longitude < d + (latitude - c) / (a - c) * (b - d)
                THEN inside := NOT inside; END IF;
                a := c; b := d;
            END LOOP;
            RETURN inside;
        END $body$;
        CREATE FUNCTION \(namespace).corners(points jsonb, which int) RETURNS double precision[]
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
            SELECT coalesce(array_agg((point->which)::double precision ORDER BY position), '{}')
            FROM jsonb_array_elements(CASE jsonb_typeof(points) WHEN 'array' THEN points ELSE '[]' END)
                WITH ORDINALITY AS p(point, position)
            WHERE CASE jsonb_typeof(point) WHEN 'array' THEN jsonb_array_length(point) = 2
                AND jsonb_typeof(point->0) = 'number' AND jsonb_typeof(point->1) = 'number' ELSE false END
        $body$;
        CREATE FUNCTION \(namespace).coordinate(value jsonb, name text) RETURNS double precision
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
            SELECT CASE WHEN value->'__type' = '"GeoPoint"' AND jsonb_typeof(value->'latitude') = 'number'
                AND jsonb_typeof(value->'longitude') = 'number' THEN (value->name)::double precision END
        $body$;
        """

    /// Ends a statement whose result is larger than the server takes into memory.
    private static let limits = """
        CREATE FUNCTION \(namespace).within(size numeric, most numeric) RETURNS boolean
        LANGUAGE plpgsql STABLE PARALLEL SAFE AS $body$
        BEGIN
            IF size > most THEN RAISE SQLSTATE '\(tooLarge)' USING MESSAGE = 'the result is too large'; END IF;
            RETURN true;
        END $body$;
        """

    /// Our own error code, in a class that PostgreSQL does not use.
    static let tooLarge = "MT001"
}
