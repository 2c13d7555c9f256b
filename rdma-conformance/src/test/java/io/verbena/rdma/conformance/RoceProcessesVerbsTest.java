package io.verbena.rdma.conformance;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.List;

/** The contract over {@code roce}, the responder in a process of its own. */
class RoceProcessesVerbsTest
{
    /** Random programs take longest, and {@link RoceVerbsTest} runs them; {@code fabric check} runs everything. */
    private static final String RULES =
        System.getProperty("verbena.conformance.rules", "^(?!RandomPrograms)");

    @TestFactory
    List<DynamicTest> rules()
    {
        try (ConformancePath path =
            ConformancePath.acrossProcesses("roce:::1,memory=" + TestDirectories.next()))
        {
            return ConformanceTests.on(path, RULES);
        }
    }
}
