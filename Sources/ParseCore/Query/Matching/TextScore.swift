import ParseWire

/// How well rows match the text searches of a predicate.
package struct TextScore: Sendable {
    private let tests: [ValueTest]

    /// Takes the searches out of a predicate, those under a negation not among them.
    ///
    /// - Throws: ``ParseError`` of ``TextSearch/query()``.
    package init(_ predicate: Predicate) throws(ParseError) {
        var tests: [ValueTest] = []
        try Self.collect(predicate, &tests)
        self.tests = tests
    }

    /// The sum over all searches; 0 without any.
    package func of(_ row: StoredRow) -> Double {
        tests.reduce(0) { $0 + $1.score(of: row.value(of: $1.field)) }
    }

    private static func collect(_ predicate: Predicate, _ tests: inout [ValueTest]) throws(ParseError) {
        switch predicate {
        case .all(let parts), .any(let parts):
            for part in parts { try collect(part, &tests) }
        case .search:
            if let test = try ValueTest(predicate) { tests.append(test) }
        default: break
        }
    }
}
