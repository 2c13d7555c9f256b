package io.verbena.rdma.conformance;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.List;

/** The contract over {@code soft} with a network, both devices on this host: messages take shared memory. */
class HostVerbsTest
{
    @TestFactory
    List<DynamicTest> rules()
    {
        return ConformanceTests.on(ConformancePath.of("soft:" + TestDirectories.next() + ",network=::1"));
    }
}
