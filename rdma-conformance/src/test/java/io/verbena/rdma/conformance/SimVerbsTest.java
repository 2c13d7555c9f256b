package io.verbena.rdma.conformance;

import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.List;

/** The contract over {@code sim} at its most adversarial, and once more with responses that get lost. */
class SimVerbsTest
{
    @TestFactory
    List<DynamicTest> rules()
    {
        return ConformanceTests.on(ConformancePath.of(
            "sim", AllowList.of("sim"),
            () -> new SimRig(new SimFabric(4711, new SimFabricOptions().holdsCallersMemory(true)))));
    }

    @TestFactory
    List<DynamicTest> rulesOfReliableConnectionsWhenResponsesAreLost()
    {
        return ConformanceTests.on(ConformancePath.of(
            "sim with lost responses", AllowList.NOTHING,
            () -> new SimRig(new SimFabric(4712, new SimFabricOptions().responseLoss(0.1)))),
            "^(Data|Order|Protection|Queues|Retries|SharedReceives)\\.");
    }
}
