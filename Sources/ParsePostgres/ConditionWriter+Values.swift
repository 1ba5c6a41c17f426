import ParseCore
import ParseWire
import Postgres

// Conditions on what stands inside of an array or object.
extension ConditionWriter {
    private static let functions = DatabaseFunctions.namespace

    /// A condition on the values that a path leads to, and on the elements of those that are arrays.
    func inside(
        _ predicate: Predicate,
        _ column: TableLayout.Column,
        _ path: [String]
    ) throws(ParseError) -> String {
        switch predicate {
        case .exists(_, let isThere):
            let found = "EXISTS (SELECT FROM \(values(column, path)) AS v(value) WHERE value IS NOT NULL)"
            return isThere ? found : "(NOT \(found))"
        case .containedBy(_, let values): return containedBy(column, path, values)
        case .amongValues(_, let subquery, let otherPath):
            return try amongValues(column, path, subquery, otherPath)
        default:
            guard let test = try test(predicate) else { return Self.never }
            return "EXISTS (SELECT FROM \(candidates(column, path)) AS c(value) WHERE \(test))"
        }
    }

    private func values(_ column: TableLayout.Column, _ path: [String]) -> String {
        call("path", column, path)
    }

    func candidates(_ column: TableLayout.Column, _ path: [String]) -> String {
        call("candidates", column, path)
    }

    func call(_ function: String, _ column: TableLayout.Column, _ path: [String]) -> String {
        "\(Self.functions).\(function)(\(json(column)), \(parameters.add(.textArray(path)))::text[])"
    }

    /// What `value` of a candidate must be like; `nil` for what no value is.
    private func test(_ predicate: Predicate) throws(ParseError) -> String? {
        switch predicate {
        case .equal(_, let value):
            if value == .null { return "value IS NULL OR value = 'null'::jsonb" }
            return value.containsNUL ? nil : "value = \(parameters.add(.text(value.form)))::jsonb"
        case .among(_, let values):
            // `IS TRUE` keeps the list a table of hashes that is made once, where a join would read it for each row.
            let test = "(value IN (SELECT jsonb_array_elements(\(forms(values))::jsonb))) IS TRUE"
            return values.contains(.null) ? "\(test) OR value IS NULL OR value = 'null'::jsonb" : test
        case .compare(_, let comparison, let value): return compare(comparison, value)
        case .matches(_, let pattern):
            let expression = parameters.add(.text(try pattern.postgresPattern()))
            return "jsonb_typeof(value) = 'string' AND (value #>> '{}') COLLATE \"C\" ~ \(expression)"
        case .near(_, let center, let radians):
            guard let radians else { return "\(coordinate("latitude")) IS NOT NULL" }
            return
                "\(Self.distance(from: center, coordinate("latitude"), coordinate("longitude"), parameters)) <= "
                + parameters.add(.double(radians))
        case .inside(_, let area):
            return area.condition(coordinate("latitude"), coordinate("longitude"), parameters)
        case .covers(_, let point):
            return
                "value->'__type' = '\"Polygon\"' AND \(Self.encloses("(value->'coordinates')", point, parameters))"
        case .amongObjects(_, let subquery):
            let className = parameters.add(.text(subquery.className))
            return """
                value->'__type' = '"Pointer"' AND jsonb_typeof(value->'objectId') = 'string' \
                AND value->>'className' = \(className) AND \(try ids("(value->>'objectId') COLLATE \"C\"", subquery))
                """
        default: return nil
        }
    }

    private func coordinate(_ name: String) -> String {
        "\(Self.functions).coordinate(value, '\(name)')"
    }

    private func compare(_ comparison: Predicate.Comparison, _ value: FieldValue) -> String? {
        func part(_ name: String, _ type: String, _ text: String) -> String {
            """
            value->'__type' = '"\(type)"' AND jsonb_typeof(value->'\(name)') = 'string' \
            AND (value->>'\(name)') COLLATE "C" \(side(comparison, .text(text)))
            """
        }
        switch value {
        case .number(let number):
            return "jsonb_typeof(value) = 'number' AND value \(side(comparison, .text("\(number)")))::jsonb"
        case .bool(let flag):
            return "jsonb_typeof(value) = 'boolean' AND value \(side(comparison, .text("\(flag)")))::jsonb"
        case .string(let text):
            return
                "jsonb_typeof(value) = 'string' AND (value #>> '{}') COLLATE \"C\" \(side(comparison, .text(text)))"
        case .date(let instant):
            return """
                value->'__type' = '"$Date"' AND jsonb_typeof(value->'ms') = 'number' \
                AND value->'ms' \(side(comparison, .text("\(instant.milliseconds)")))::jsonb
                """
        case .file(let name): return part("name", "File", name)
        case .pointer(let className, let id):
            guard !className.containsNUL else { return nil }
            let target = parameters.add(.text(className))
            return part("objectId", "Pointer", id)
                + " AND jsonb_typeof(value->'className') = 'string' AND value->>'className' = \(target)"
        case .null, .geoPoint, .bytes, .array, .object, .polygon, .binary: return nil
        }
    }

    private func containedBy(
        _ column: TableLayout.Column,
        _ path: [String],
        _ allowed: [FieldValue]
    ) -> String {
        """
        (NOT EXISTS (SELECT FROM \(values(column, path)) AS v(value), \
        jsonb_array_elements(CASE jsonb_typeof(v.value) WHEN 'array' THEN v.value ELSE '[]' END) AS e(element) \
        WHERE \(Self.functions).form(element) NOT IN \
        (SELECT jsonb_array_elements(\(forms(allowed, withNull: true))::jsonb))))
        """
    }

    /// A parameter with the values as a JSON array, those that nothing stored can equal left out.
    private func forms(_ values: [FieldValue], withNull: Bool = false) -> String {
        let texts = values.filter { !$0.containsNUL && (withNull || $0 != .null) }.map(\.form)
        return parameters.add(.text("[\(texts.joined(separator: ","))]"))
    }

    /// The value of a field as JSON in the form that candidates have.
    func json(_ column: TableLayout.Column) -> String {
        let name = own(column.names[0])
        func built(_ parts: String) -> String {
            "CASE WHEN \(name) IS NOT NULL THEN jsonb_build_object(\(parts)) END"
        }
        switch column.type {
        case .array, .object: return "\(name)::jsonb"
        case .string, .number, .boolean: return "to_jsonb(\(name))"
        case .date: return built("'__type', '$Date', 'ms', \(name)")
        case .pointer(let target):
            let className = parameters.add(.text(target))
            return built("'__type', 'Pointer', 'className', \(className)::text, 'objectId', \(name)")
        case .file: return built("'__type', 'File', 'name', \(name)")
        case .bytes: return built("'__type', 'Bytes', 'base64', \(name)")
        case .polygon: return built("'__type', 'Polygon', 'coordinates', \(name)::jsonb")
        case .geoPoint:
            return built("'__type', 'GeoPoint', 'latitude', \(name), 'longitude', \(own(column.names[1]))")
        case .relation, .acl: return "NULL::jsonb"
        }
    }
}
