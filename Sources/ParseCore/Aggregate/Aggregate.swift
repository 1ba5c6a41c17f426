package import JSON
import ParseWire

/// Computes over all rows of a class, or lists the different values of a field (Parse REST guide, "Aggregate").
///
/// For the master alone; access control lists and class-level permissions do not count. A pipeline is run here and
/// not in the database, so that it means the same on every one; only its first `$match`es are the database's. Memory
/// and time are bounded. Without a `$sort` the order is that of the ids.
package struct Aggregate: Sendable {
    package let className: String
    package let parameters: JSONObject

    package init(className: String, parameters: JSONObject) {
        self.className = className
        self.parameters = parameters
    }

    /// Runs it.
    ///
    /// - Parameters:
    ///   - context: The master's.
    ///   - subqueries: Is asked for subqueries in the `where` of `distinct`; without it there can be none.
    /// - Returns: The whole answer, `{"results": […]}`.
    /// - Throws: ``ParseError``: 403 for others than the master, 102 for what means nothing or needs too much memory,
    ///   124 for what takes too long.
    package func run(
        in context: RequestContext,
        subqueries: (any SubqueryResolver)? = nil
    ) async throws -> JSONObject {
        try context.requireMaster()
        try ReadPreference.check(parameters)
        let app = context.app
        let schema = app.storage.schema[className]
        if let field = parameters["distinct"], field.isTruthy {
            return ["results": .array(try await distinct(field, schema, app, subqueries))]
        }
        let pipeline = try AggregatePipeline(parameters, schema: schema, now: app.now)
        guard let schema else { return ["results": []] }
        let (predicate, rest) = pipeline.split()
        if parameters["explain"]?.isTruthy == true {
            return ["results": try await explain(predicate, app)]
        }
        let run = AggregateRun(rest, app: app, budget: AggregateBudget())
        let documents = try await run.run(predicate, of: schema)
        return ["results": .array(documents.map { .object(AggregateDocument.answer($0)) })]
    }

    private func explain(_ predicate: Predicate, _ app: App) async throws -> JSONValue {
        let query = RowQuery(className: className, predicate: predicate, limit: .max)
        return try await app.reading { () throws(StorageError) in try await app.storage.explain(query) }
    }

    private func distinct(
        _ json: JSONValue,
        _ schema: ClassSchema?,
        _ app: App,
        _ subqueries: (any SubqueryResolver)?
    ) async throws -> [JSONValue] {
        guard let name = json.stringValue, let path = AggregatePath(name) else {
            throw ParseError.aggregate("distinct needs the name of a field.")
        }
        let decoder = WhereDecoder(schema: schema, isMaster: true, now: app.now)
        let filter = try FindOptions.filter(parameters["where"])
        let predicate =
            if let subqueries {
                try await decoder.meaning(of: filter, subqueries: subqueries).predicate
            } else {
                try decoder.predicate(filter)
            }
        var parts = path.parts
        if parts[0] == AggregateDocument.id { parts[0] = "objectId" }
        guard schema?.type(of: parts[0]) != nil else { return [] }
        let query = RowQuery(className: className, predicate: predicate, limit: .max)
        let field = parts.joined(separator: ".")
        return try await app.reading { () throws(StorageError) in
            try await app.storage.distinct(query, path: field)
        }
    }
}
