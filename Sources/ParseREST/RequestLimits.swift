package import JSON

/// What the REST API takes at most, beyond the limits of HTTP itself.
package enum RequestLimits {
    /// Of a request body or a JSON parameter.
    package static let json = JSONLimits(bytes: 256 << 20, depth: 128, values: 1_000_000)
    /// Up to this size a body is read on the event loop, in bytes.
    package static let inlineBodyBytes = 32 * 1024
    /// Of a form-encoded body, in bytes.
    package static let formBytes = 100 * 1024
}
