// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The part of Apple's Combine that ParseSwift uses, for type-checking on Linux, after
// https://developer.apple.com/documentation/combine/future. Nothing here does anything.

public final class Future<Output, Failure: Error> {
    public typealias Promise = (Result<Output, Failure>) -> Void

    public init(_ attemptToFulfill: @escaping (@escaping Promise) -> Void) {}
}
