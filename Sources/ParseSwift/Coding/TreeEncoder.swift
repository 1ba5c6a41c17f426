import Foundation

/// Turns a Codable value into a ``JSONTree`` with Parse's rules for dates and children.
///
/// `JSONEncoder` cannot be told to write a child object as a pointer, hence an encoder of our own.
struct TreeEncoder {
    /// What becomes of a `ParseObject` inside the value.
    enum Children: Sendable {
        /// A pointer, as servers expect; a child without `objectId` is an error.
        case pointers
        /// The whole child, for keeping a value on this machine.
        case whole
    }

    let children: Children

    func encode<Value: Encodable>(_ value: Value) throws -> JSONTree {
        let node = TreeNode()
        // The top value itself is never turned into a pointer.
        try value.encode(to: NodeEncoder(node: node, codingPath: [], children: children))
        return node.tree
    }
}

/// One value under construction; containers share it by reference.
private final class TreeNode {
    enum Content {
        case leaf(JSONTree)
        case object([String: TreeNode])
        case array([TreeNode])
    }

    var content: Content = .object([:])

    var tree: JSONTree {
        switch content {
        case .leaf(let tree): tree
        case .object(let members): .object(members.mapValues(\.tree))
        case .array(let items): .array(items.map(\.tree))
        }
    }

    func member(_ name: String) -> TreeNode {
        let child = TreeNode()
        guard case .object(var members) = content else { return child }
        // Taken out while it is changed, so that the dictionary is not copied for each member.
        content = .leaf(.null)
        members[name] = child
        content = .object(members)
        return child
    }

    func append() -> TreeNode {
        let child = TreeNode()
        guard case .array(var items) = content else { return child }
        content = .leaf(.null)
        items.append(child)
        content = .array(items)
        return child
    }

    var count: Int {
        guard case .array(let items) = content else { return 0 }
        return items.count
    }
}

private struct NodeEncoder: Encoder {
    let node: TreeNode
    let codingPath: [any CodingKey]
    let children: TreeEncoder.Children
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object = node.content {} else { node.content = .object([:]) }
        return KeyedEncodingContainer(
            KeyedWriter<Key>(node: node, codingPath: codingPath, children: children)
        )
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = node.content {} else { node.content = .array([]) }
        return UnkeyedWriter(node: node, codingPath: codingPath, children: children)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleWriter(node: node, codingPath: codingPath, children: children)
    }
}

private struct SingleWriter: SingleValueEncodingContainer {
    let node: TreeNode
    let codingPath: [any CodingKey]
    let children: TreeEncoder.Children

    func encodeNil() { node.content = .leaf(.null) }
    func encode(_ value: Bool) { node.content = .leaf(.bool(value)) }
    func encode(_ value: String) { node.content = .leaf(.string(value)) }
    func encode(_ value: Float) throws { try encode(Double(String(value)) ?? Double(value)) }
    func encode(_ value: Int) { node.content = .leaf(.int(Int64(value))) }
    func encode(_ value: Int8) { node.content = .leaf(.int(Int64(value))) }
    func encode(_ value: Int16) { node.content = .leaf(.int(Int64(value))) }
    func encode(_ value: Int32) { node.content = .leaf(.int(Int64(value))) }
    func encode(_ value: Int64) { node.content = .leaf(.int(value)) }
    func encode(_ value: UInt8) { node.content = .leaf(.int(Int64(value))) }
    func encode(_ value: UInt16) { node.content = .leaf(.int(Int64(value))) }
    func encode(_ value: UInt32) { node.content = .leaf(.int(Int64(value))) }
    func encode(_ value: UInt64) throws { node.content = .leaf(unsigned(value)) }
    func encode(_ value: UInt) throws { node.content = .leaf(unsigned(UInt64(value))) }

    func encode(_ value: Double) throws {
        guard value.isFinite else {
            throw EncodingError.invalidValue(
                value,
                .init(codingPath: codingPath, debugDescription: "JSON has no number \(value).")
            )
        }
        node.content = .leaf(.double(value))
    }

    private func unsigned(_ value: UInt64) -> JSONTree {
        Int64(exactly: value).map(JSONTree.int) ?? .double(Double(value))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        switch value {
        case let date as Date:
            node.content = .leaf(
                .object(["__type": .string("Date"), "iso": .string(ParseDate.string(from: date))])
            )
        case let url as URL:
            node.content = .leaf(.string(url.absoluteString))
        case let decimal as Decimal:
            node.content = .leaf((try? JSONTree(parsing: Data(decimal.description.utf8))) ?? .null)
        case let data as Data:
            node.content = .leaf(.string(data.base64EncodedString()))
        case let tree as JSONTree:
            node.content = .leaf(tree)
        case let object as any ParseObject where children == .pointers:
            guard let objectId = object.objectId else {
                throw ParseError(
                    code: .missingObjectId,
                    message: "\(keyPath) holds an object of class \(object.className) that is not saved yet. "
                        + "Save it first."
                )
            }
            node.content = .leaf(
                .object([
                    "__type": .string("Pointer"), "className": .string(object.className),
                    "objectId": .string(objectId),
                ])
            )
        default:
            try value.encode(to: NodeEncoder(node: node, codingPath: codingPath, children: children))
        }
    }

    private var keyPath: String {
        codingPath.map(\.stringValue).joined(separator: ".")
    }
}

private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: TreeNode
    let codingPath: [any CodingKey]
    let children: TreeEncoder.Children

    private func writer(_ key: Key) -> SingleWriter {
        SingleWriter(node: node.member(key.stringValue), codingPath: codingPath + [key], children: children)
    }

    func encodeNil(forKey key: Key) { writer(key).encodeNil() }
    func encode(_ value: Bool, forKey key: Key) { writer(key).encode(value) }
    func encode(_ value: String, forKey key: Key) { writer(key).encode(value) }
    func encode(_ value: Double, forKey key: Key) throws { try writer(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try writer(key).encode(value) }
    func encode(_ value: Int, forKey key: Key) { writer(key).encode(value) }
    func encode(_ value: Int8, forKey key: Key) { writer(key).encode(value) }
    func encode(_ value: Int16, forKey key: Key) { writer(key).encode(value) }
    func encode(_ value: Int32, forKey key: Key) { writer(key).encode(value) }
    func encode(_ value: Int64, forKey key: Key) { writer(key).encode(value) }
    func encode(_ value: UInt, forKey key: Key) throws { try writer(key).encode(value) }
    func encode(_ value: UInt8, forKey key: Key) { writer(key).encode(value) }
    func encode(_ value: UInt16, forKey key: Key) { writer(key).encode(value) }
    func encode(_ value: UInt32, forKey key: Key) { writer(key).encode(value) }
    func encode(_ value: UInt64, forKey key: Key) throws { try writer(key).encode(value) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try writer(key).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(AnyKey(key.stringValue)).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(AnyKey(key.stringValue)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder(AnyKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(AnyKey(key.stringValue)) }

    private func encoder(_ key: AnyKey) -> NodeEncoder {
        NodeEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key], children: children)
    }
}

private struct UnkeyedWriter: UnkeyedEncodingContainer {
    let node: TreeNode
    let codingPath: [any CodingKey]
    let children: TreeEncoder.Children

    var count: Int { node.count }

    private func writer() -> SingleWriter {
        let path = codingPath + [AnyKey(intValue: count)]
        return SingleWriter(node: node.append(), codingPath: path, children: children)
    }

    func encodeNil() { writer().encodeNil() }
    func encode(_ value: Bool) { writer().encode(value) }
    func encode(_ value: String) { writer().encode(value) }
    func encode(_ value: Double) throws { try writer().encode(value) }
    func encode(_ value: Float) throws { try writer().encode(value) }
    func encode(_ value: Int) { writer().encode(value) }
    func encode(_ value: Int8) { writer().encode(value) }
    func encode(_ value: Int16) { writer().encode(value) }
    func encode(_ value: Int32) { writer().encode(value) }
    func encode(_ value: Int64) { writer().encode(value) }
    func encode(_ value: UInt) throws { try writer().encode(value) }
    func encode(_ value: UInt8) { writer().encode(value) }
    func encode(_ value: UInt16) { writer().encode(value) }
    func encode(_ value: UInt32) { writer().encode(value) }
    func encode(_ value: UInt64) throws { try writer().encode(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try writer().encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> NodeEncoder {
        let path = codingPath + [AnyKey(intValue: count)]
        return NodeEncoder(node: node.append(), codingPath: path, children: children)
    }
}
