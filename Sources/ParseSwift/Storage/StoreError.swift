/// Why an item cannot be read or written now.
///
/// It never means that the item does not exist.
struct StoreError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
