import JSON
import ParseWire

/// A find under way: what may be searched by the caller, and the query for it.
struct Search {
    let reader: ObjectReader
    /// Without the rows that permissions leave; ``rows()`` and ``count()`` narrow it each by their own.
    let query: RowQuery
    private let options: FindOptions
    private let context: RequestContext

    /// Checks that the class is there and that nothing is searched or sorted by that the caller may not see, and
    /// decodes the query.
    init(_ className: String, _ options: FindOptions, in context: RequestContext) async throws {
        let className = try Self.redirected(className, options, in: context)
        let reader = ObjectReader(className, in: context)
        _ = try reader.access.requireExistence()
        try reader.protected.check(paths: options.whereFields, order: options.order, ownID: options.whereID)
        let query = try await options.query(
            of: className,
            reader.access.schema,
            access: reader.rowAccess,
            now: context.app.now,
            subqueries: Subqueries(in: context)
        )
        self.reader = reader
        self.query = className == SystemClasses.session ? query.hashingTokens() : query
        self.options = options
        self.context = context
    }

    /// The rows that match; with a limit of 0 nothing is looked for and no permission to find is needed.
    func rows() async throws -> [StoredRow] {
        guard options.isFound else { return [] }
        return try await context.app.rows(narrowed(for: options.isGet ? .get : .find))
    }

    func count() async throws -> Int {
        try await context.app.rowCount(narrowed(for: .count))
    }

    /// How the database would go about it.
    func plan() async throws -> JSONValue {
        let query = try narrowed(for: .find)
        let app = context.app
        guard app.storage.schema[query.className] != nil else { return [] }
        return try await app.reading { () throws(StorageError) in try await app.storage.explain(query) }
    }

    private func narrowed(for operation: ClassPermissions.Operation) throws(ParseError) -> RowQuery {
        var query = query
        query.predicate = try reader.filter(for: operation).and(query.predicate)
        return query
    }

    /// The class that a pointer or relation of the class leads to (`redirectClassNameForKey`).
    private static func redirected(
        _ className: String,
        _ options: FindOptions,
        in context: RequestContext
    ) throws(ParseError) -> String {
        guard let key = options.redirectKey else { return className }
        let access = ClassAccess(className, in: context)
        try access.requireReachable(for: .find)
        _ = try access.filter(for: .find)
        return access.schema?.type(of: key)?.targetClass ?? className
    }
}

/// Checks what the caller may ask of the class of a subquery, and decodes it.
package struct Subqueries: SubqueryResolver {
    private let context: RequestContext
    private let depth: Int
    /// Shared with the subqueries inside.
    private let budget: SubqueryBudget

    /// How deep subqueries may stand in each other.
    private static let depthLimit = 8

    package init(in context: RequestContext) {
        self.init(in: context, depth: 1, SubqueryBudget())
    }

    private init(in context: RequestContext, depth: Int, _ budget: SubqueryBudget) {
        self.context = context
        self.depth = depth
        self.budget = budget
    }

    package func subquery(for request: SubqueryRequest) async throws -> Subquery {
        guard depth <= Self.depthLimit else {
            throw ParseError(
                .invalidQuery,
                "Subqueries are nested more than \(Self.depthLimit) levels deep."
            )
        }
        try budget.spendSubquery()
        var reader = ObjectReader(request.className, in: context)
        if let key = request.redirectKey, let target = reader.access.schema?.type(of: key)?.targetClass {
            _ = try reader.filter(for: .find)
            reader = ObjectReader(target, in: context)
        }
        let rows = try reader.filter(for: .find)
        guard try reader.access.requireExistence(), context.app.storage.schema[reader.className] != nil else {
            return Subquery(className: SystemClasses.user, predicate: .any([]), access: .unrestricted)
        }
        let paths = WhereDecoder.fields(of: request.filter) + (request.path.map { [$0] } ?? [])
        try reader.protected.check(paths: paths, order: [], ownID: nil)
        let decoder = WhereDecoder(
            schema: reader.access.schema,
            isMaster: context.principal.isMaster,
            now: context.app.now
        )
        let meaning = try await decoder.meaning(
            of: request.filter,
            subqueries: Subqueries(in: context, depth: depth + 1, budget)
        )
        try budget.spend(conditions: meaning.conditions)
        var predicate = meaning.predicate
        if reader.className == SystemClasses.session { predicate = predicate.hashingTokens() }
        return Subquery(
            className: reader.className,
            predicate: rows.and(predicate),
            access: reader.rowAccess
        )
    }
}

extension RowQuery {
    fileprivate func hashingTokens() -> RowQuery {
        var query = self
        query.predicate = predicate.hashingTokens()
        return query
    }
}
