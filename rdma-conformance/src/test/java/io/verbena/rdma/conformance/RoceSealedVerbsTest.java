package io.verbena.rdma.conformance;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * The contract over {@code roce} with sealed packets, of queue pairs that are connected by {@code Device.connect}:
 * there are no datagrams, no DC, and no connections by attributes then.
 */
class RoceSealedVerbsTest
{
    /** Other classes of rules connect queue pairs by their attributes, or are of datagrams and DC. */
    private static final String RULES = System.getProperty("verbena.conformance.rules",
        "^(AsyncEvents|Connections|Data|Notifications|Order|Protection|Queues|Registration)\\.");

    @TestFactory
    List<DynamicTest> rules(@TempDir final Path keys) throws IOException
    {
        final Path key = keys.resolve("key");
        Files.createFile(key, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(key, "5a".repeat(32));
        return ConformanceTests.on(
            ConformancePath.of("roce:::1,encrypt=" + key + ",memory=" + TestDirectories.next()), RULES);
    }
}
