import JSON
package import ParseCore
import ParseWire

/// Asks a database and core's matcher the same random questions about the same random rows.
package struct AgreementRun {
    private let storage: any AppStorage
    private let seed: UInt64
    private var queries: RandomQueries
    private var tables: MemoryTables
    /// How many of the questions had some rows for an answer, but not all: the others show little.
    package private(set) var telling = 0

    /// Something that the two do not agree on.
    package struct Disagreement: Error, CustomStringConvertible {
        package let description: String
    }

    /// Fills the classes of an empty database.
    package init(_ storage: any AppStorage, seed: UInt64, rows: Int = 40) async throws {
        self.storage = storage
        self.seed = seed
        queries = RandomQueries(random: RandomSource(seed: seed))
        _ = try await storage.write(
            WritePlan(schemaChanges: AgreementClasses.schemaChanges, steps: [])
        )
        tables = MemoryTables(schema: storage.schema)
        try await fill(AgreementClasses.first, rows)
        try await fill(AgreementClasses.second, rows / 3)
        for className in [AgreementClasses.first, AgreementClasses.second] {
            for relation in AgreementClasses.relations(of: className) {
                try await link(className, relation.name, relation.target, rows)
            }
        }
    }

    /// - Throws: ``Disagreement``, with the seed and the query; what the database throws.
    package mutating func ask(_ count: Int) async throws {
        for number in 0..<count {
            let query = queries.query()
            do {
                switch queries.values.random.next(10) {
                case 0: try await compareCounts(query)
                case 1: try await compareDistinct(query)
                default: try await compareRows(query)
                }
            } catch let error as Disagreement {
                throw Disagreement(description: "seed \(seed), query \(number): \(query): \(error)")
            } catch {
                throw Disagreement(description: "seed \(seed), query \(number): \(query): threw \(error)")
            }
            if queries.values.random.once(in: 20) { try await update() }
        }
    }

    private mutating func compareRows(_ query: RowQuery) async throws {
        let expected = try tables.find(query).map { row in
            guard let fields = query.fields else { return row }
            var row = row
            row.fields = row.fields.filter { fields.contains($0.key) }
            return row
        }
        let all = tables.rows[query.className]?.count ?? 0
        if !expected.isEmpty, expected.count < all { telling += 1 }
        let found = try await storage.find(query).map { row in
            guard let fields = query.fields else { return row }
            var row = row
            row.fields = row.fields.filter { fields.contains($0.key) }
            return row
        }
        guard found != expected else { return }
        let (ids, expectedIDs) = (found.map(\.objectID), expected.map(\.objectID))
        let odd = Set(ids).symmetricDifference(expectedIDs)
        let example = (tables.rows[query.className] ?? []).first { odd.contains($0.objectID) }
        throw Disagreement(
            description: "found \(ids), expected \(expectedIDs); for example \(String(describing: example))"
        )
    }

    private func compareCounts(_ query: RowQuery) async throws {
        let expected = try tables.rows(query.className, query.predicate, query.access).count
        let found = try await storage.count(query)
        guard found != expected else { return }
        throw Disagreement(description: "counted \(found), expected \(expected)")
    }

    private mutating func compareDistinct(_ query: RowQuery) async throws {
        let path = queries.path(of: query.className).name
        let expected = try tables.distinct(query, path: path)
        let found = try await storage.distinct(query, path: path)
        guard Set(found) != expected || found.count != expected.count else { return }
        throw Disagreement(description: "distinct \(path): found \(found), expected \(expected)")
    }
}

// MARK: - Rows

extension AgreementRun {
    private mutating func fill(_ className: String, _ count: Int) async throws {
        let rows = (0..<count).map { number in
            var row = StoredRow(
                objectID: AgreementClasses.id(className, number),
                createdAt: queries.values.instant(),
                updatedAt: queries.values.instant(),
                acl: queries.acl()
            )
            for (name, type) in AgreementClasses.fields[className] ?? [] {
                row.fields[name] = fieldValue(type)
            }
            return row
        }
        _ = try await storage.write(WritePlan(steps: rows.map { .insert(className: className, $0) }))
        tables.rows[className] = rows
    }

    /// `nil` for absent.
    private mutating func fieldValue(_ type: FieldType) -> FieldValue? {
        if case .relation = type { return nil }
        switch queries.values.random.next(6) {
        case 0: return nil
        case 1: return .null
        default: return queries.values.value(type)
        }
    }

    private mutating func link(_ className: String, _ field: String, _ target: String, _ rows: Int) async throws
    {
        let relation = RelationField(className: className, field: field)
        for _ in 0..<rows / 2 {
            let change = RelationChange(
                className: className,
                field: field,
                ownerID: queries.values.id(className),
                relatedIDs: (0..<1 + queries.values.random.next(3)).map { _ in queries.values.id(target) },
                isRemoval: queries.values.random.once(in: 4)
            )
            _ = try await storage.write(WritePlan(steps: [.relate(change)]))
            let links = change.relatedIDs.map { RelationLink(ownerID: change.ownerID, relatedID: $0) }
            if change.isRemoval {
                tables.links[relation]?.subtract(links)
            } else {
                tables.links[relation, default: []].formUnion(links)
            }
        }
    }

    /// Changes a row on both sides, with and without asking for it back.
    private mutating func update() async throws {
        let className = queries.values.random.once(in: 2) ? AgreementClasses.first : AgreementClasses.second
        guard let rows = tables.rows[className], !rows.isEmpty else { return }
        let place = queries.values.random.next(rows.count)
        var row = rows[place]
        var update = RowUpdate(className: className, predicate: .id(row.objectID))
        for (name, type) in AgreementClasses.fields[className] ?? [] where queries.values.random.once(in: 4) {
            if case .relation = type { continue }
            let value = fieldValue(type)
            row.fields[name] = value
            update.changes.append((name, value.map(FieldChange.set) ?? .unset))
        }
        if queries.values.random.once(in: 2) {
            row.updatedAt = queries.values.instant()
            update.updatedAt = row.updatedAt
        }
        let outcome = try await storage.write(WritePlan(steps: [.update(update)]))
        guard outcome.counts == [1], outcome.updatedRows == [[row]] else {
            throw Disagreement(description: "seed \(seed): the update \(update) gave \(outcome)")
        }
        tables.rows[className]?[place] = row
    }
}
