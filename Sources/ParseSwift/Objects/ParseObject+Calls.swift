public import Dispatch

// MARK: - Fetch

extension ParseObject {
    /// Reads the object from the server and waits for it.
    ///
    /// - Parameters:
    ///   - includeKeys: Names of pointer columns whose objects the server shall send along.
    ///   - options: Options of the call.
    /// - Throws: ``ParseError``, with code 104 when there is no `objectId`.
    /// - Returns: The object as the server has it.
    public func fetch(includeKeys: [String]? = nil, options: API.Options = []) throws -> Self {
        try ObjectCalls.fetch(self, includeKeys, options).wait()
    }

    /// Reads the object from the server and calls back with it.
    public func fetch(
        includeKeys: [String]? = nil,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        ObjectCalls.fetch(self, includeKeys, options).deliver(on: callbackQueue, completion)
    }

    /// Reads the object from the server.
    ///
    /// - Throws: ``ParseError``, with code 104 when there is no `objectId`.
    @discardableResult
    public func fetch(includeKeys: [String]? = nil, options: API.Options = []) async throws -> Self {
        try await ObjectCalls.fetch(self, includeKeys, options).value()
    }
}

// MARK: - Save

extension ParseObject {
    /// Creates the object on the server, or sends what changed, and waits for the answer.
    ///
    /// - Throws: ``ParseError``.
    /// - Returns: The value with what the server set. The value it is called on does not change.
    public func save(options: API.Options = []) throws -> Self {
        try ObjectCalls.save(self, .save, false, options).wait()
    }

    /// Creates the object on the server, or sends what changed, and waits for the answer.
    ///
    /// - Parameters:
    ///   - ignoringCustomObjectIdConfig: Whether an object without `objectId` may be created although the
    ///     configuration says that the app chooses the ids.
    ///   - options: Options of the call.
    /// - Throws: ``ParseError``.
    /// - Returns: The value with what the server set. The value it is called on does not change.
    public func save(ignoringCustomObjectIdConfig: Bool = false, options: API.Options = []) throws -> Self {
        try ObjectCalls.save(self, .save, ignoringCustomObjectIdConfig, options).wait()
    }

    /// Creates the object on the server, or sends what changed, and calls back with the result.
    public func save(
        ignoringCustomObjectIdConfig: Bool = false,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        ObjectCalls.save(self, .save, ignoringCustomObjectIdConfig, options)
            .deliver(on: callbackQueue, completion)
    }

    /// Creates the object on the server, or sends what changed.
    ///
    /// - Throws: ``ParseError``.
    /// - Returns: The value with what the server set. The value it is called on does not change.
    @discardableResult
    public func save(
        ignoringCustomObjectIdConfig: Bool = false,
        options: API.Options = []
    ) async throws -> Self {
        try await ObjectCalls.save(self, .save, ignoringCustomObjectIdConfig, options).value()
    }

    /// Creates the object on the server, also when it has an id, and calls back with the result.
    public func create(
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        ObjectCalls.save(self, .create, false, options).deliver(on: callbackQueue, completion)
    }

    /// Creates the object on the server, also when it has an id.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public func create(options: API.Options = []) async throws -> Self {
        try await ObjectCalls.save(self, .create, false, options).value()
    }

    /// Sends every property that is not `nil`, changed or not, and calls back with the result.
    public func replace(
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        ObjectCalls.save(self, .replace, false, options).deliver(on: callbackQueue, completion)
    }

    /// Sends every property that is not `nil`, changed or not.
    ///
    /// - Throws: ``ParseError``, with code 104 when there is no `objectId`.
    @discardableResult
    public func replace(options: API.Options = []) async throws -> Self {
        try await ObjectCalls.save(self, .replace, false, options).value()
    }
}

// MARK: - Delete

extension ParseObject {
    /// Deletes the object from the server and waits for the answer.
    ///
    /// - Throws: ``ParseError``, with code 104 when there is no `objectId`.
    public func delete(options: API.Options = []) throws {
        try ObjectCalls.delete(self, options).wait()
    }

    /// Deletes the object from the server and calls back.
    public func delete(
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Void, ParseError>) -> Void
    ) {
        ObjectCalls.delete(self, options).deliver(on: callbackQueue, completion)
    }

    /// Deletes the object from the server.
    ///
    /// - Throws: ``ParseError``, with code 104 when there is no `objectId`.
    public func delete(options: API.Options = []) async throws {
        try await ObjectCalls.delete(self, options).value()
    }
}
