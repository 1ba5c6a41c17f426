/// A first-in, first-out list that does not move its elements on each removal.
struct Queue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }
    var first: Element? { head < elements.count ? elements[head] : nil }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: elements.count <= 1024)
            head = 0
        } else if head >= 256, head * 2 >= elements.count {
            // Half of the storage is spent: moving the rest costs less than it took to get here.
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func removeFirst(where isWanted: (Element) -> Bool) -> Element? {
        let index = elements.indices.dropFirst(head).first { elements[$0].map(isWanted) ?? false }
        return index.flatMap { elements.remove(at: $0) }
    }

    mutating func removeAll() -> [Element] {
        defer { self = Queue() }
        return elements[head...].compactMap { $0 }
    }
}
