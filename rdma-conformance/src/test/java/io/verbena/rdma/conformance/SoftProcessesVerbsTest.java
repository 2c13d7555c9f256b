package io.verbena.rdma.conformance;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.List;

/** The contract over {@code soft}, the responder in a process of its own. */
class SoftProcessesVerbsTest
{
    @TestFactory
    List<DynamicTest> rules()
    {
        try (ConformancePath path = ConformancePath.acrossProcesses("soft:" + TestDirectories.next()))
        {
            return ConformanceTests.on(path);
        }
    }
}
