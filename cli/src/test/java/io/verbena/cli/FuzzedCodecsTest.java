package io.verbena.cli;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each codec of a message between processes is fuzzed, so that one that is added is, too: what a {@code *FuzzTest}
 * gives to the fuzzer as a decoder has to call the codec's reading methods, directly or through other methods, in the
 * code as it was compiled. A codec that a fuzz only names, or encodes with, is none that is fuzzed.
 */
class FuzzedCodecsTest
{
    private record Method(String owner, String name, String type)
    {
        @Override
        public String toString()
        {
            return owner.substring(owner.lastIndexOf('/') + 1) + '.' + name;
        }
    }

    /** Where messages between processes are laid out. */
    private static final List<String> MODULES = List.of("protocol", "raas", "meta-server");
    private static final String CODEC = "Descriptor";
    private static final String DECODER = "Decoder";
    private static final Set<String> MESSAGES = Set.of("Lorg/agrona/DirectBuffer;", "Ljava/nio/ByteBuffer;", "[B");
    /** Reading methods that no decoder calls, and where what they read is fuzzed, or why it need not be. */
    private static final Map<String, String> OTHERWISE = Map.of(
        "BootstrapDescriptor.joiningTicket", "BootstrapClient.shakeHands calls it through an interface, of the secret",
        "ConnectDataDescriptor.claim", "takes a request of a device; RaasMessagesFuzzTest makes the same claim itself",
        "MetaRecordDescriptor.seal", "writes the checksum of a record that was laid out before");
    /** Codecs without a reading method of bytes. */
    private static final Map<String, String> WITHOUT_BYTES = Map.of(
        "MessageImmediateDescriptor", "32 bits, of which RaasMessagesFuzzTest reads any",
        "SealedMessageDescriptor", "what a cipher takes besides the message, which RaasMessagesFuzzTest changes",
        "ServiceStatusDescriptor", "one word, each value of which is a state or none");

    private final Map<Method, Set<Method>> calls = new HashMap<>();
    private final Map<String, String> parents = new HashMap<>();
    private final Set<Method> decoders = new HashSet<>();
    private final Set<Method> readers = new HashSet<>();
    private final Set<String> codecs = new TreeSet<>();

    private void load(final String folder, final boolean isTest) throws IOException
    {
        final List<Path> files;
        try (Stream<Path> walk = Files.walk(SourceTree.root().resolve(folder)))
        {
            files = walk.filter((file) -> file.toString().endsWith(".class")).toList();
        }
        for (final Path file : files)
        {
            final ClassModel model = ClassFile.of().parse(file);
            final String name = model.thisClass().asInternalName();
            if (!isTest && name.endsWith(CODEC))
            {
                codecs.add(name.substring(name.lastIndexOf('/') + 1));
            }
            parents.put(name, model.superclass().map((parent) -> parent.asInternalName()).orElse(""));
            for (final MethodModel method : model.methods())
            {
                final Method own =
                    new Method(name, method.methodName().stringValue(), method.methodType().stringValue());
                read(own, method, isTest && name.contains("FuzzTest"));
                if (!isTest && name.endsWith(CODEC) && isReader(method))
                {
                    readers.add(own);
                }
            }
        }
    }

    private void read(final Method own, final MethodModel method, final boolean isFuzz)
    {
        final Set<Method> called = calls.computeIfAbsent(own, (_) -> new HashSet<>());
        method.code().ifPresent((code) ->
        {
            for (final CodeElement element : code)
            {
                if (element instanceof final InvokeInstruction call)
                {
                    called.add(new Method(call.owner().asInternalName(), call.name().stringValue(),
                        call.type().stringValue()));
                }
                else if (element instanceof final InvokeDynamicInstruction made)
                {
                    final boolean isDecoder = isFuzz && name(made.typeSymbol().returnType()).endsWith(DECODER);
                    made.bootstrapArgs().stream().filter(DirectMethodHandleDesc.class::isInstance)
                        .map(DirectMethodHandleDesc.class::cast).forEach((handle) ->
                        {
                            final Method body = new Method(name(handle.owner()), handle.methodName(),
                                handle.lookupDescriptor());
                            called.add(body);
                            if (isDecoder)
                            {
                                decoders.add(body);
                            }
                        });
                }
            }
        });
    }

    private static String name(final ClassDesc type)
    {
        final String descriptor = type.descriptorString();
        return descriptor.startsWith("L") ? descriptor.substring(1, descriptor.length() - 1) : descriptor;
    }

    /** It takes the bytes of a message, and does not write them. */
    private static boolean isReader(final MethodModel method)
    {
        final MethodTypeDesc type = method.methodTypeSymbol();
        final String name = method.methodName().stringValue();
        final boolean takesMessage =
            type.parameterList().stream().anyMatch((each) -> MESSAGES.contains(each.descriptorString()));
        return takesMessage && method.flags().has(AccessFlag.STATIC) && !method.flags().has(AccessFlag.PRIVATE) &&
            !name.matches("(encode|put|write|encrypted|proved|lambda\\$).*");
    }

    /** Calls of methods that a class inherits are those of the class that has them. */
    private Method resolved(final Method method)
    {
        Method found = method;
        while (!calls.containsKey(found) && parents.containsKey(found.owner))
        {
            found = new Method(parents.get(found.owner), found.name, found.type);
        }
        return found;
    }

    private Set<Method> reached()
    {
        final Set<Method> reached = new HashSet<>();
        final Deque<Method> waiting = new ArrayDeque<>(decoders);
        while (!waiting.isEmpty())
        {
            final Method method = resolved(waiting.pop());
            if (reached.add(method))
            {
                waiting.addAll(calls.getOrDefault(method, Set.of()));
            }
        }
        return reached;
    }

    @Test
    void shouldDriveEachReadingMethodOfEachCodec() throws IOException
    {
        for (final String module : MODULES)
        {
            load(module + "/target/classes", false);
            load(module + "/target/test-classes", true);
        }
        final Set<String> unread = new TreeSet<>(codecs);
        readers.forEach((reader) -> unread.remove(reader.owner.substring(reader.owner.lastIndexOf('/') + 1)));
        assertThat(codecs).hasSizeGreaterThan(30);
        assertThat(unread).as("codecs without a reading method").isEqualTo(WITHOUT_BYTES.keySet());
        assertThat(decoders).hasSizeGreaterThan(30);
        final Set<Method> reached = reached();
        final Map<String, String> missing = new TreeMap<>();
        final List<String> needless = new ArrayList<>(OTHERWISE.keySet());
        for (final Method reader : readers)
        {
            if (!reached.contains(reader))
            {
                needless.remove(reader.toString());
                if (!OTHERWISE.containsKey(reader.toString()))
                {
                    missing.put(reader.toString(), reader.type);
                }
            }
        }
        assertThat(missing).as("reading methods of codecs that no fuzz calls: give the fuzzer of a *FuzzTest of " +
            "their module a decoder that does").isEmpty();
        assertThat(needless).as("exceptions that are none any more").isEmpty();
    }
}
