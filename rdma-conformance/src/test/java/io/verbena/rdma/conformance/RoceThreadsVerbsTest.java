package io.verbena.rdma.conformance;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.List;

/** The contract over {@code roce} with several threads that answer, over which queue pairs are spread. */
class RoceThreadsVerbsTest
{
    /** Random programs take longest, and {@link RoceVerbsTest} runs them; {@code fabric check} runs everything. */
    private static final String RULES =
        System.getProperty("verbena.conformance.rules", "^(?!RandomPrograms)");

    @TestFactory
    List<DynamicTest> rules()
    {
        return ConformanceTests.on(ConformancePath.of("roce:::1,threads=3,memory=" + TestDirectories.next()), RULES);
    }
}
