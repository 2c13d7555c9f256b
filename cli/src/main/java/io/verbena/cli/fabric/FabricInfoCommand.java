package io.verbena.cli.fabric;

import io.verbena.cli.console.ExitStatus;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.PortAttributes;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** {@code verbena fabric info}: what a device can do, as {@code ibv_devinfo} says it. */
@Command(
    name = "info",
    description = "Print the attributes of a device and its port.",
    footer = {"", "Exit status 0; 64: no such device; 69: it cannot be used here."})
final class FabricInfoCommand implements Callable<Integer>
{
    private static final String ROW = "    %-32s%s%n";

    @Spec
    private CommandSpec spec;

    @Option(names = {"-d", "--device"}, paramLabel = "D", required = true,
        description = "The device: soft, soft:DIRECTORY, roce:ADDRESS, sim:SEED, ibverbs:DEVICE; see fabric.")
    private String device;

    @Override
    public Integer call()
    {
        return FabricDevice.on(device, () ->
        {
            try (Fabric fabric = Fabrics.open(device); Device open = fabric.openDevice("info"))
            {
                print(open, spec.commandLine().getOut());
                return ExitStatus.OK;
            }
        });
    }

    private void print(final Device open, final PrintWriter out)
    {
        final DeviceAttributes attributes = open.attributes();
        out.println("device: " + device);
        row(out, "provider", attributes.provider());
        row(out, "address", open.address());
        row(out, "capabilities", capabilities(attributes, true));
        row(out, "not_supported", capabilities(attributes, false));
        Arrays.stream(DeviceCapability.values()).filter(capability -> !open.missing(capability).isEmpty()).forEach(
            capability -> row(out, "no_" + capability.name().toLowerCase(Locale.ROOT), open.missing(capability)));
        row(out, "atomics", attributes.supports(DeviceCapability.GLOBAL_ATOMICS) ?
            "with those of processors (GLOB)" : "among those of the device (HCA)");
        row(out, "read_after_atomic_needs_fence", attributes.readAfterAtomicNeedsFence());
        row(out, "max_qp_wr", attributes.maxQueuePairRequests());
        row(out, "max_cqe", attributes.maxCompletions());
        row(out, "max_msg_sz", attributes.maxMessageBytes());
        row(out, "max_inline_data", attributes.maxInlineBytes());
        row(out, "max_send_sge", attributes.maxSendSegments());
        row(out, "max_qp_rd_atom", attributes.maxReadAtomic());
        row(out, "max_srq_wr", attributes.maxSharedReceiveRequests());
        row(out, "max_mw", attributes.maxMemoryWindows());
        row(out, "max_dc_contexts", attributes.maxDcContexts());
        row(out, "memory_pages", open.memoryPages());
        row(out, "transports", open.transports().isEmpty() ? "-" : String.join(" ", open.transports()));
        try
        {
            final PortAttributes port = open.port();
            row(out, "port", 1);
            row(out, "state", port.isActive() ? "PORT_ACTIVE" : "PORT_DOWN");
            row(out, "link_layer", port.linkLayer());
            row(out, "active_mtu", port.pathMtuBytes());
            row(out, "GID", port.address());
        }
        catch (final UnsupportedVerbException ex)
        {
            row(out, "port", "none");
        }
        out.flush();
    }

    private static void row(final PrintWriter out, final String name, final Object value)
    {
        out.printf(ROW, name + ":", value);
    }

    private static String capabilities(final DeviceAttributes attributes, final boolean supported)
    {
        final String words = Arrays.stream(DeviceCapability.values())
            .filter(capability -> attributes.supports(capability) == supported)
            .map(capability -> capability.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(" "));
        return words.isEmpty() ? "-" : words;
    }
}
