package io.verbena.rdma.conformance;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.List;

/** The contract over {@code soft} with a network that two threads answer, between two processes, by either way. */
class HostProcessesVerbsTest
{
    /** What depends on where the responder is; {@code fabric check} runs everything. */
    private static final String RULES =
        System.getProperty("verbena.conformance.rules", "^(Connection|Data|Notification|Protection|SharedReceive)");

    @TestFactory
    List<DynamicTest> rulesBySharedMemory()
    {
        try (ConformancePath path = ConformancePath.acrossProcesses(fabric()))
        {
            return ConformanceTests.on(path, RULES);
        }
    }

    @TestFactory
    List<DynamicTest> rulesByTheNetwork()
    {
        try (ConformancePath path = ConformancePath.acrossHostsAndProcesses(fabric()))
        {
            return ConformanceTests.on(path, RULES);
        }
    }

    private static String fabric()
    {
        return "soft:" + TestDirectories.next() + ",network=::1,threads=2";
    }
}
