import JSON
import ParseWire

/// What a group collects of its documents.
enum AggregateAccumulator: Sendable {
    case sum(Double)
    case average(sum: Double, count: Int)
    case extreme(JSONValue?, isMaximum: Bool)
    case list([JSONValue])
    case set([JSONValue], Set<JSONValue>)
    case first(JSONValue?, isSet: Bool)
    case last(JSONValue?)

    /// The empty accumulator of that operator; `nil` when there is none.
    init?(_ name: String) {
        switch name {
        case "$sum": self = .sum(0)
        case "$avg": self = .average(sum: 0, count: 0)
        case "$min": self = .extreme(nil, isMaximum: false)
        case "$max": self = .extreme(nil, isMaximum: true)
        case "$push": self = .list([])
        case "$addToSet": self = .set([], [])
        case "$first": self = .first(nil, isSet: false)
        case "$last": self = .last(nil)
        default: return nil
        }
    }

    /// Takes one value in; sums and averages pass over what is no number, extremes over null.
    mutating func add(_ value: JSONValue?) {
        switch self {
        case .sum(let sum): self = .sum(sum + (value?.numberValue ?? 0))
        case .average(let sum, let count):
            if let number = value?.numberValue { self = .average(sum: sum + number, count: count + 1) }
        case .extreme(let present, let isMaximum):
            guard let value, !value.isNull else { return }
            let order = present.map { AggregateOrder.compare(value, $0) } ?? (isMaximum ? 1 : -1)
            if isMaximum ? order > 0 : order < 0 { self = .extreme(value, isMaximum: isMaximum) }
        case .list(var elements):
            guard let value else { return }
            // Frees the only other reference first, so that the list grows in place.
            self = .list([])
            elements.append(value)
            self = .list(elements)
        case .set(var elements, var forms):
            guard let value else { return }
            self = .set([], [])
            if forms.insert(AggregateOrder.form(value)).inserted { elements.append(value) }
            self = .set(elements, forms)
        case .first(_, let isSet): if !isSet { self = .first(value, isSet: true) }
        case .last: self = .last(value)
        }
    }

    var value: JSONValue {
        switch self {
        case .sum(let sum): .number(sum)
        case .average(let sum, let count): count == 0 ? .null : .number(sum / Double(count))
        case .extreme(let value, _), .first(let value, _), .last(let value): value ?? .null
        case .list(let elements), .set(let elements, _): .array(elements)
        }
    }

    /// How many bytes more it keeps when it takes that value in, at most; about.
    func growth(_ value: JSONValue?) -> Int {
        switch self {
        case .sum, .average: 0
        case .list: value.map(AggregateBudget.size) ?? 0
        case .set: 2 * (value.map(AggregateBudget.size) ?? 0)
        case .first(_, let isSet): isSet ? 0 : value.map(AggregateBudget.size) ?? 0
        case .extreme(let old, _), .last(let old):
            max(0, (value.map(AggregateBudget.size) ?? 0) - (old.map(AggregateBudget.size) ?? 0))
        }
    }
}
