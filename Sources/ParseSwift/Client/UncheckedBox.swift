/// Carries a value across threads whose safety is argued for where the box is made.
struct UncheckedBox<Value>: @unchecked Sendable {
    // SAFETY: each use states why only one thread at a time reaches the value.
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
