package io.verbena.rdma.conformance;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.List;

/** The contract over {@code soft} with a network, the devices on two hosts: messages take the network. */
class HostNetworkVerbsTest
{
    @TestFactory
    List<DynamicTest> rules()
    {
        return ConformanceTests.on(ConformancePath.acrossHosts("soft:" + TestDirectories.next() + ",network=::1"));
    }
}
