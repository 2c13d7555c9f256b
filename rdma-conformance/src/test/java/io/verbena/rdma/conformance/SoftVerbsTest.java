package io.verbena.rdma.conformance;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.List;

/** The contract over {@code soft}, both devices in this process. */
class SoftVerbsTest
{
    @TestFactory
    List<DynamicTest> rules()
    {
        return ConformanceTests.on(ConformancePath.of("soft:" + TestDirectories.next()));
    }
}
