import JSON
import ParseWire

/// One aggregate under way: reads the rows of a class in parts and sends them through the stages.
final class AggregateRun {
    private let app: App
    private let runners: [any AggregateRunner]
    private let budget: AggregateBudget
    private var results: [JSONObject] = []

    /// About so many bytes of rows are read at once.
    private static let pageBytes = 4 << 20

    init(_ stages: ArraySlice<AggregateStage>, app: App, budget: AggregateBudget) {
        self.app = app
        self.budget = budget
        runners = stages.map { stage -> any AggregateRunner in
            switch stage {
            case .match(let match): EachRunner(budget) { try match.matches($0) ? $0 : nil }
            case .project(let projection): ChangeRunner(budget) { try projection.projected($0) }
            case .addFields(let projection): ChangeRunner(budget) { try projection.adding(to: $0) }
            case .group(let group): GroupRunner(group, budget)
            case .sort(let keys): SortRunner(keys, budget)
            case .limit(let count): LimitRunner(count)
            case .skip(let count): SkipRunner(count)
            case .unwind(let unwind): UnwindRunner(unwind, budget)
            case .count(let name): CountRunner(name)
            case .lookUp(let lookUp): LookUpRunner(lookUp, app, budget)
            }
        }
    }

    /// The documents that come out for the rows that match.
    func run(_ predicate: Predicate, of schema: ClassSchema) async throws -> [JSONObject] {
        var lastID: String?
        var pageRows = 100
        while !isSatisfied {
            try budget.checkTime()
            let rows = try await page(predicate, schema.className, after: lastID, limit: pageRows)
            try await feed(rows.map { AggregateDocument.document(of: $0, schema) }, from: 0)
            guard rows.count == pageRows, let last = rows.last else { break }
            lastID = last.objectID
            let bytes = rows.reduce(1) { $0 + ObjectSize.bytes(of: $1.fields) }
            pageRows = min(1000, max(20, Self.pageBytes / (1 + bytes / rows.count)))
        }
        for index in runners.indices {
            try budget.checkTime()
            try await feed(try runners[index].finish(), from: index + 1)
        }
        return results
    }

    private var isSatisfied: Bool {
        for runner in runners {
            if runner.isSatisfied { return true }
            if runner.isBlocking { return false }
        }
        return false
    }

    private func page(
        _ predicate: Predicate,
        _ className: String,
        after lastID: String?,
        limit: Int
    ) async throws -> [StoredRow] {
        var predicate = predicate
        if let lastID { predicate = predicate.and(.compare("objectId", .greater, .string(lastID))) }
        let query = RowQuery(
            className: className,
            predicate: predicate,
            order: [SortKey(field: "objectId")],
            limit: limit
        )
        return try await app.reading { () throws(StorageError) in try await app.storage.find(query) }
    }

    private func feed(_ documents: [JSONObject], from index: Int) async throws {
        // Few at a time, so that the time is looked at often however much each costs.
        for start in stride(from: 0, to: documents.count, by: 200) {
            try budget.checkTime()
            var part = Array(documents[start..<min(start + 200, documents.count)])
            for runner in runners[index...] where !part.isEmpty { part = try await runner.accept(part) }
            for document in part { try budget.keep(document) }
            results += part
        }
    }
}
