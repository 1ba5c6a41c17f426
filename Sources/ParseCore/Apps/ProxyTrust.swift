/// Which proxies in front of the server are believed when they say whose request they pass on.
///
/// The rules of the option `trustProxy`, which are Express's `trust proxy`.
package enum ProxyTrust: Sendable, Hashable {
    /// The peer of the connection is the client.
    case nobody
    /// The first address of `X-Forwarded-For` is the client.
    case everybody
    /// The client is so many addresses before the peer.
    case hops(Int)
    /// The client is the last address that is in none of these ranges.
    case ranges([IPRange])

    /// The address of the client.
    ///
    /// - Parameters:
    ///   - peer: The other end of the connection.
    ///   - forwardedFor: The header `X-Forwarded-For`; its last address is the one the nearest proxy saw.
    /// - Returns: The address as text, which may be no address at all if a proxy says so.
    package func client(peer: String, forwardedFor: String?) -> String {
        let chain = (forwardedFor ?? "").split(separator: ",").map(Self.trimmed).filter { !$0.isEmpty }
        let hops = chain + [peer]
        switch self {
        case .nobody: return peer
        case .everybody: return hops[0]
        case .hops(let count): return hops[max(0, hops.count - 1 - count)]
        case .ranges(let ranges):
            let stranger = hops.last { hop in
                guard let address = IPAddress(hop) else { return true }
                return !ranges.contains { $0.contains(address) }
            }
            return stranger ?? hops[0]
        }
    }

    /// Whether the peer may say by which scheme and host the client came.
    package func trusts(peer: String) -> Bool {
        switch self {
        case .nobody: false
        case .everybody: true
        case .hops(let count): count > 0
        case .ranges(let ranges):
            IPAddress(peer).map { peer in ranges.contains { $0.contains(peer) } } ?? false
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}
