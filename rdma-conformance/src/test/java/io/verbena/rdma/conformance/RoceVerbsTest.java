package io.verbena.rdma.conformance;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.List;

/** The contract over {@code roce}, both devices in this process, over the loopback interface. */
class RoceVerbsTest
{
    @TestFactory
    List<DynamicTest> rules()
    {
        return ConformanceTests.on(ConformancePath.of("roce:::1,memory=" + TestDirectories.next()));
    }
}
