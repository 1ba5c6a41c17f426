import JSON
import ParseWire

/// One stage at work: documents go in, a few at a time, and others come out.
protocol AggregateRunner: AnyObject {
    /// Takes documents in and gives what comes out at once.
    func accept(_ documents: [JSONObject]) async throws -> [JSONObject]

    /// What comes out when no more come in.
    func finish() throws -> [JSONObject]

    /// Whether it needs no more documents.
    var isSatisfied: Bool { get }

    /// Whether it gives anything before the end.
    var isBlocking: Bool { get }
}

extension AggregateRunner {
    func finish() throws -> [JSONObject] { [] }
    var isSatisfied: Bool { false }
    var isBlocking: Bool { false }
}

/// A stage that looks at one document at a time.
final class EachRunner: AggregateRunner {
    private let budget: AggregateBudget
    private let change: (JSONObject) throws -> JSONObject?

    init(_ budget: AggregateBudget, _ change: @escaping (JSONObject) throws -> JSONObject?) {
        self.budget = budget
        self.change = change
    }

    func accept(_ documents: [JSONObject]) async throws -> [JSONObject] {
        try documents.compactMap { document in
            // One document alone may take as long as regular expressions may.
            try budget.checkTime()
            return try change(document)
        }
    }
}

/// A stage that makes other documents of documents.
final class ChangeRunner: AggregateRunner {
    private let budget: AggregateBudget
    private let change: (JSONObject) throws -> JSONObject

    init(_ budget: AggregateBudget, _ change: @escaping (JSONObject) throws -> JSONObject) {
        self.budget = budget
        self.change = change
    }

    func accept(_ documents: [JSONObject]) async throws -> [JSONObject] {
        var growth = 0
        var results: [JSONObject] = []
        for document in documents {
            try budget.checkTime()
            let result = try change(document)
            let sizes = [result, document].map { AggregateBudget.size(of: .object($0)) }
            growth += max(0, sizes[0] - sizes[1])
            try budget.checkPassing(bytes: growth)
            results.append(result)
        }
        return results
    }
}

final class LimitRunner: AggregateRunner {
    private var left: Int

    init(_ count: Int) {
        left = count
    }

    var isSatisfied: Bool { left == 0 }

    func accept(_ documents: [JSONObject]) async throws -> [JSONObject] {
        let taken = documents.prefix(left)
        left -= taken.count
        return Array(taken)
    }
}

final class SkipRunner: AggregateRunner {
    private var left: Int

    init(_ count: Int) {
        left = count
    }

    func accept(_ documents: [JSONObject]) async throws -> [JSONObject] {
        let dropped = min(left, documents.count)
        left -= dropped
        return Array(documents.dropFirst(dropped))
    }
}

final class CountRunner: AggregateRunner {
    private let name: String
    private var count = 0

    init(_ name: String) {
        self.name = name
    }

    var isBlocking: Bool { true }

    func accept(_ documents: [JSONObject]) async throws -> [JSONObject] {
        count += documents.count
        return []
    }

    func finish() throws -> [JSONObject] {
        count == 0 ? [] : [[name: .number(Double(count))]]
    }
}

final class UnwindRunner: AggregateRunner {
    private let unwind: AggregateStage.Unwind
    private let budget: AggregateBudget

    init(_ unwind: AggregateStage.Unwind, _ budget: AggregateBudget) {
        self.unwind = unwind
        self.budget = budget
    }

    func accept(_ documents: [JSONObject]) async throws -> [JSONObject] {
        var results: [JSONObject] = []
        var bytes = 0
        for document in documents {
            guard let elements = unwind.path.value(in: document)?.arrayValue else {
                let value = unwind.path.value(in: document)
                if unwind.keepsEmpty || !(value?.isNull ?? true) { results.append(indexed(document, nil)) }
                continue
            }
            // The copies share their values with the document, but each has members of its own.
            bytes += elements.count * (200 + 64 * document.count)
            try budget.checkPassing(bytes: bytes)
            for (index, element) in elements.enumerated() {
                var copy = document
                unwind.path.set(element, in: &copy)
                results.append(indexed(copy, index))
            }
            if elements.isEmpty, unwind.keepsEmpty {
                var copy = document
                unwind.path.set(nil, in: &copy)
                results.append(indexed(copy, nil))
            }
        }
        return results
    }

    private func indexed(_ document: JSONObject, _ index: Int?) -> JSONObject {
        guard let name = unwind.indexName else { return document }
        var document = document
        name.set(index.map { .number(Double($0)) } ?? .null, in: &document)
        return document
    }
}

final class SortRunner: AggregateRunner {
    private let keys: [AggregateStage.Key]
    private let budget: AggregateBudget
    private var documents: [(values: [SortValue], document: JSONObject)] = []
    private var kept = 0

    init(_ keys: [AggregateStage.Key], _ budget: AggregateBudget) {
        self.keys = keys
        self.budget = budget
    }

    var isBlocking: Bool { true }

    func accept(_ documents: [JSONObject]) async throws -> [JSONObject] {
        for document in documents {
            let bytes = AggregateBudget.size(of: .object(document))
            try budget.keep(bytes)
            kept += bytes
            let values = keys.map { key in
                let root = document[key.path.parts[0]].map(FieldValue.init(stored:))
                let found = PathValues.values(of: root, at: Array(key.path.parts.dropFirst()))
                return SortValue(found, isDescending: key.isDescending)
            }
            self.documents.append((values, document))
        }
        return []
    }

    func finish() throws -> [JSONObject] {
        // They are counted again where they go.
        try budget.keep(-kept)
        return documents.indices.sorted { left, right in
            for (index, key) in keys.enumerated() {
                let (first, second) = (documents[left].values[index], documents[right].values[index])
                if first < second { return !key.isDescending }
                if second < first { return key.isDescending }
            }
            return left < right
        }.map { documents[$0].document }
    }
}

final class GroupRunner: AggregateRunner {
    private let group: AggregateGroup
    private let budget: AggregateBudget
    private var places: [JSONValue: Int] = [:]
    private var groups: [(id: JSONValue, accumulators: [AggregateAccumulator])] = []
    private var kept = 0

    init(_ group: AggregateGroup, _ budget: AggregateBudget) {
        self.group = group
        self.budget = budget
    }

    var isBlocking: Bool { true }

    func accept(_ documents: [JSONObject]) async throws -> [JSONObject] {
        for document in documents {
            let place = try place(of: try group.id.value(in: document) ?? .null)
            for (index, field) in group.fields.enumerated() {
                let value = try field.expression.value(in: document)
                try keep(groups[place].accumulators[index].growth(value))
                groups[place].accumulators[index].add(value)
            }
        }
        return []
    }

    private func place(of id: JSONValue) throws -> Int {
        let form = AggregateOrder.form(id)
        if let place = places[form] { return place }
        try keep(2 * AggregateBudget.size(of: id) + 100 + 80 * group.fields.count)
        places[form] = groups.count
        groups.append((id, group.fields.map(\.start)))
        return groups.count - 1
    }

    private func keep(_ bytes: Int) throws(ParseError) {
        try budget.keep(bytes)
        kept += bytes
    }

    func finish() throws -> [JSONObject] {
        // They are counted again where they go.
        try budget.keep(-kept)
        return groups.map { group in
            var document = JSONObject()
            document.append(AggregateDocument.id, group.id)
            for (field, accumulator) in zip(self.group.fields, group.accumulators) {
                document[field.name] = accumulator.value
            }
            return document
        }
    }
}

/// Puts the rows of another class that documents point to into them.
final class LookUpRunner: AggregateRunner {
    private let lookUp: AggregateStage.LookUp
    private let app: App
    private let budget: AggregateBudget

    init(_ lookUp: AggregateStage.LookUp, _ app: App, _ budget: AggregateBudget) {
        self.lookUp = lookUp
        self.app = app
        self.budget = budget
    }

    func accept(_ documents: [JSONObject]) async throws -> [JSONObject] {
        let ids = documents.map { self.ids(in: lookUp.localField.value(in: $0)) }
        let found = try await rows(Set(ids.joined()))
        var bytes = 0
        var results: [JSONObject] = []
        for (document, ids) in zip(documents, ids) {
            // Each row once, however often it is pointed to, as a join has it.
            var seen: Set<String> = []
            let joined = ids.filter { seen.insert($0).inserted }.compactMap { found[$0] }
            bytes += joined.reduce(200 + 64 * document.count) { $0 + 64 * $1.count }
            try budget.checkPassing(bytes: bytes)
            var copy = document
            lookUp.name.set(.array(joined.map(JSONValue.object)), in: &copy)
            results.append(copy)
        }
        return results
    }

    /// The ids of the class that a value names: pointers to it, texts, and arrays of these.
    private func ids(in value: JSONValue?) -> [String] {
        switch value.map(FieldValue.init(stored:)) {
        case .string(let id): [id]
        case .pointer(let className, let id): className == lookUp.className ? [id] : []
        case .array(let elements): elements.flatMap { $0.arrayValue == nil ? ids(in: $0) : [] }
        default: []
        }
    }

    private func rows(_ ids: Set<String>) async throws -> [String: JSONObject] {
        guard !ids.isEmpty, let schema = app.storage.schema[lookUp.className] else { return [:] }
        var found: [String: JSONObject] = [:]
        var bytes = 0
        let all = ids.sorted()
        for start in stride(from: 0, to: all.count, by: 200) {
            try budget.checkTime()
            let part = all[start..<min(start + 200, all.count)]
            let query = RowQuery(
                className: lookUp.className,
                predicate: .among("objectId", part.map(FieldValue.string)),
                limit: part.count
            )
            let rows = try await app.reading { () throws(StorageError) in try await app.storage.find(query) }
            for row in rows {
                let document = AggregateDocument.document(of: row, schema)
                bytes += AggregateBudget.size(of: .object(document))
                try budget.checkPassing(bytes: bytes)
                found[row.objectID] = document
            }
        }
        return found
    }
}
