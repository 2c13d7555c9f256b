package io.verbena.rdma.fabric;

import io.verbena.rdma.spi.FabricProvider;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/**
 * Opens fabrics by name: {@code PROVIDER} or {@code PROVIDER:ARGUMENT}, such as {@code soft} or
 * {@code soft:/dev/shm/mine}. Thread-safe.
 */
public final class Fabrics
{
    private Fabrics()
    {
    }

    /** @return the providers on the class path, by name. */
    public static List<FabricProvider> providers()
    {
        return ServiceLoader.load(FabricProvider.class).stream()
            .map(ServiceLoader.Provider::get).sorted(Comparator.comparing(FabricProvider::name)).toList();
    }

    /** Has each provider do what it needs once a process and what takes long, without opening anything; any thread. */
    public static void prepare()
    {
        providers().forEach(FabricProvider::prepare);
    }

    /**
     * Opens a fabric.
     *
     * @param name as above.
     * @return the fabric, closed by the caller.
     * @throws RdmaException when there is no such provider or it cannot be used here; one line that says what to do.
     */
    public static Fabric open(final String name)
    {
        return open(name, ProcessRole.APPLICATION);
    }

    /**
     * Opens a fabric for a node of a cluster, or what works beside one.
     *
     * @param name as above.
     * @param role what this process is to its peers.
     * @return the fabric, closed by the caller.
     * @throws RdmaException when there is no such provider or it cannot be used here; one line that says what to do.
     */
    public static Fabric open(final String name, final ProcessRole role)
    {
        return provider(name).open(argument(name), role);
    }

    /**
     * Finds the provider that opens a fabric.
     *
     * @param name as above.
     * @return the provider.
     * @throws RdmaException when there is none; one line that says which there are.
     */
    public static FabricProvider provider(final String name)
    {
        final String provider = name.split(":", 2)[0];
        final List<FabricProvider> providers = providers();
        return providers.stream()
            .filter(candidate -> candidate.name().equals(provider) && candidate.takes(argument(name))).findFirst()
            .orElseThrow(() -> new RdmaException("no such fabric: '" + name + "'; there are: " + providers.stream()
                .map(known -> known.name() + "[:" + known.argumentSyntax() + "]").collect(Collectors.joining(", "))));
    }

    private static String argument(final String name)
    {
        final int colon = name.indexOf(':');
        return colon < 0 ? "" : name.substring(colon + 1);
    }
}
