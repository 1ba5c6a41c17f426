/// How a ``SQLiteDatabase`` uses threads, memory and disk.
package struct SQLiteDatabaseConfiguration: Sendable {
    /// The most threads, each with a connection, that read at the same time.
    package var readers = 2
    /// The most threads, beside these, for queries that take longer than ``quickTime``.
    package var patientReaders = 2
    /// How long a query may keep a reader before it is begun anew among the long ones.
    package var quickTime: Duration = .milliseconds(15)
    /// The most writes that share one commit.
    package var groupLimit = 64
    /// The most writes that wait; one more is refused with ``SQLiteError/queueFull``.
    package var writeQueueLimit = 4096
    /// The most reads that wait; one more is refused with ``SQLiteError/queueFull``.
    package var readQueueLimit = 8192
    /// The most long queries that wait; one more is refused in the same way.
    package var patientQueueLimit = 128
    /// The most memory each connection uses for pages, in KiB, taken as it is needed.
    package var cacheKiB = 4096
    /// How much of the file is read through a memory map, in bytes: address space, not memory.
    ///
    /// It makes reads that miss the page cache about a fifth faster. The operating system shares the memory
    /// between connections but shows it as each one's. 0 turns it off.
    package var mmapBytes = 256 << 20
    /// After how many new pages in the write-ahead log they are copied into the main file.
    package var checkpointPages = 16_000
    /// How long a thread without work stays before it ends; a reader's connection goes with it.
    package var idleTimeout: Duration = .seconds(30)
    /// How long to wait for the lock of another process.
    package var busyTimeout: Duration = .seconds(10)
    /// How many prepared statements each connection keeps.
    package var statementLimit = 128
    /// Called on each new connection that will run operations, before its first one; on any thread.
    package var onOpen: (@Sendable (SQLiteConnection) throws -> Void)?

    package init() {}
}
