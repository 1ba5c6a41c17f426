/// A key, token or password that does not show itself in logs, errors and dumps.
///
/// `description`, `debugDescription`, `dump`, `Mirror` and string interpolation answer `<redacted>`,
/// also when the value is a part of something else. It is not `Equatable`: comparing secrets needs
/// constant time, so that is for the code that knows what they are.
package struct Redacted<Value: Sendable>: Sendable {
    private let value: Value

    package init(_ value: Value) {
        self.value = value
    }

    /// The value itself; every call of this is a place to review.
    package func reveal() -> Value {
        value
    }
}

extension Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always the same text.
    package var description: String {
        "<redacted>"
    }

    /// Always the same text.
    package var debugDescription: String {
        "<redacted>"
    }

    /// Has no children.
    package var customMirror: Mirror {
        Mirror(self, children: [])
    }
}
