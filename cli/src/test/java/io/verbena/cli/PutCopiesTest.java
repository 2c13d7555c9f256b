package io.verbena.cli;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How often the bytes of a PUT are copied between its caller and the memory from where the device WRITEs the block: by
 * every call of a copying method in the classes that it passes ({@code docs/code-tour.md}), each of which stands here.
 */
class PutCopiesTest
{
    private static final Set<String> COPYING = Set.of("putBytes", "getBytes", "arraycopy", "copy", "copyFrom", "copyOf",
        "copyOfRange", "clone", "copyMemory", "wrapAndCopy");

    /** Of other bytes than those of a PUT that fits one message. */
    private static final Set<String> OTHERS = Set.of(
        // What does not fit goes in parts.
        "Upload.encodeBytes: putBytes",
        "RequestSender.callUploaded: putBytes",
        "RequestSender.sendInParts: arraycopy",
        // Answers.
        "Download.take: getBytes",
        "RequestSender.onAnswer: getBytes",
        "RequestServer.onFetch: putBytes",
        "RpcServer.reply: putBytes",
        // Requests about tables and nodes, and texts.
        "RpcClient.callUntil: putBytes",
        "RpcClient.end: getBytes",
        "RequestSender.name: getBytes",
        "OperationMessageDescriptor.encodeHead: putBytes",
        // Lists of many keys and values for a background thread: references, no bytes of theirs.
        "RoutedKvTable.getAllAsync: copyOf",
        "RoutedKvTable.putAllAsync: copyOf",
        "RoutedKvTable.deleteAllAsync: copyOf",
        // A compiler's own.
        "State.values: clone");

    /** Classes that a PUT passes, in its order. */
    private static final List<String> WAY = List.of(
        "io.verbena.client.routing.RoutedKvTable",
        "io.verbena.client.routing.SyncCalls",
        "io.verbena.client.routing.SyncCall",
        "io.verbena.client.routing.AsyncCall",
        "io.verbena.protocol.request.OperationRequest",
        "io.verbena.protocol.remote.RemoteEndpoint",
        "io.verbena.protocol.remote.RequestSender",
        "io.verbena.protocol.remote.OperationMessageDescriptor",
        "io.verbena.raas.RpcClient",
        "io.verbena.raas.ClientChannel",
        "io.verbena.raas.RpcServer",
        "io.verbena.raas.ServerChannel",
        "io.verbena.protocol.remote.RequestServer",
        "io.verbena.compute.ComputeNode",
        "io.verbena.compute.RequestQueue",
        "io.verbena.compute.request.OperationDispatcher",
        "io.verbena.table.TableEngine",
        "io.verbena.table.operation.TableRequest",
        "io.verbena.table.operation.PointOperations",
        "io.verbena.table.operation.StartStep",
        "io.verbena.table.operation.SwapStep",
        "io.verbena.table.operation.Inserts",
        "io.verbena.table.operation.Records");

    @Test
    void shouldCopyThePayloadThreeTimesFromAnotherProcessAndOnceInTheNodesOwn()
    {
        assertThat(copies()).containsExactlyInAnyOrder(
            // Key and value, by a client in another process: into the message, where it is sent from,
            "OperationMessageDescriptor.encodeBody: putBytes",
            // at the node out of the message, whose memory ends with the connection,
            "OperationMessageDescriptor.decode: getBytes",
            // and, which is all that a client in the node's process pays for, into registered memory.
            "TableRequest.copyKeyTo: copyFrom",
            "TableRequest.copyValueTo: copyFrom");
    }

    private static Set<String> copies()
    {
        final List<String> packages = WAY.stream().map(name -> name.substring(0, name.lastIndexOf('.'))).toList();
        final Set<String> passed = new TreeSet<>();
        final Set<String> copies = new TreeSet<>();
        for (final JavaClass type : new ClassFileImporter().importPackages(packages))
        {
            final String outermost = type.getName().replaceFirst("\\$.*", "");
            if (WAY.contains(outermost))
            {
                passed.add(outermost);
                addCopies(type, copies);
            }
        }
        assertThat(passed).hasSize(WAY.size());
        return copies;
    }

    private static void addCopies(final JavaClass type, final Set<String> copies)
    {
        for (final JavaMethodCall call : type.getMethodCallsFromSelf())
        {
            final String copy =
                type.getSimpleName() + '.' + call.getOrigin().getName() + ": " + call.getTarget().getName();
            if (COPYING.contains(call.getTarget().getName()) && !OTHERS.contains(copy))
            {
                copies.add(copy);
            }
        }
    }
}
