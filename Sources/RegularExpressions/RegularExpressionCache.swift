import Locking

/// Keeps the regular expressions that were compiled last.
///
/// Bounded by number and by the memory of their code; what was not used for the longest time goes first.
package final class RegularExpressionCache: Sendable {
    /// One for the process.
    package static let shared = RegularExpressionCache(countLimit: 128, byteLimit: 16 << 20)

    private struct Key: Hashable {
        let pattern: [UInt8]
        let options: RegularExpression.Options
    }

    private struct Entry {
        let expression: RegularExpression
        var lastUse: UInt64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var bytes = 0
        var clock: UInt64 = 0
    }

    private let state = Locked(State())
    private let countLimit: Int
    private let byteLimit: Int

    package init(countLimit: Int, byteLimit: Int) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    /// The expression, compiled if it is not here.
    ///
    /// - Throws: ``RegularExpressionError``, as compiling does; nothing is kept then.
    package func expression(
        _ pattern: String,
        options: RegularExpression.Options = []
    ) throws(RegularExpressionError) -> RegularExpression {
        guard pattern.utf8.count <= RegularExpression.patternByteLimit else { throw .tooLong }
        // Bytes, because texts that Swift takes for equal can be different patterns.
        let key = Key(pattern: Array(pattern.utf8), options: options)
        if let known = state.withLock({ Self.use(key, in: &$0) }) { return known }
        let expression = try RegularExpression(pattern, options: options)
        state.withLock { keep(expression, as: key, in: &$0) }
        return expression
    }

    /// How many there are.
    package var count: Int {
        state.withLock { $0.entries.count }
    }

    private static func use(_ key: Key, in state: inout State) -> RegularExpression? {
        state.clock += 1
        state.entries[key]?.lastUse = state.clock
        return state.entries[key]?.expression
    }

    private func keep(_ expression: RegularExpression, as key: Key, in state: inout State) {
        guard state.entries[key] == nil else { return }
        state.entries[key] = Entry(expression: expression, lastUse: state.clock)
        state.bytes += expression.compiled.cost
        while state.entries.count > countLimit || (state.bytes > byteLimit && state.entries.count > 1) {
            guard let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
            state.bytes -= oldest.value.expression.compiled.cost
            state.entries[oldest.key] = nil
        }
    }
}
