/// Bounds on a document that comes from outside.
package struct JSONLimits: Sendable, Hashable {
    /// The most bytes a document may have.
    package var bytes: Int
    /// How deep arrays and objects may nest; `[]` has depth 1.
    package var depth: Int
    /// The most values a document may hold, counting each array and object as well as what is in it.
    package var values: Int

    /// Bounds for any document: 64 MiB, 128 levels, two million values.
    ///
    /// MongoDB stores no more than 100 levels. 128 fit a stack of 512 KiB, that of a secondary thread on
    /// Apple's systems, also in a debug build (160 do, 192 do not). Two million values took up to 300 MB
    /// (an object with as many long names, in 2.6 s), so a server should set lower bounds per request.
    package static let standard = JSONLimits()

    package init(bytes: Int = 64 << 20, depth: Int = 128, values: Int = 2_000_000) {
        self.bytes = bytes
        self.depth = depth
        self.values = values
    }
}
