import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.openprovenance.prov.model.Document;
import org.openprovenance.prov.model.ProvFactory;
import org.openprovenance.prov.notation.ProvDeserialiser;
import org.openprovenance.prov.validation.Config;
import org.openprovenance.prov.validation.ObjectMaker;
import org.openprovenance.prov.validation.Unknown;
import org.openprovenance.prov.validation.Validate;
import org.openprovenance.prov.validation.VarQName;
import org.openprovenance.prov.validation.report.ValidationReport;

/** Says for each PROV-N file of a folder what ProvToolbox's validator finds: name, verdict, kinds of findings. */
public class Peer {
    static final class Maker implements ObjectMaker {
        static final class Variable extends org.openprovenance.prov.vanilla.QualifiedName implements VarQName {
            Variable(String namespace, String local, String prefix) { super(namespace, local, prefix); }
        }
        static final class Open extends org.openprovenance.prov.vanilla.QualifiedName implements Unknown {
            Open(String namespace, String prefix) { super(namespace, "unknown", prefix); }
        }
        public VarQName makeVarQName(String namespace, String local, String prefix) {
            return new Variable(namespace, local, prefix);
        }
        public VarQName makeVarQName(org.openprovenance.prov.model.QualifiedName name) {
            return new Variable(name.getNamespaceURI(), name.getLocalPart(), name.getPrefix());
        }
        public Unknown makeUnknown(String namespace, String prefix) { return new Open(namespace, prefix); }
    }

    static void collect(ValidationReport report, List<String> kinds) {
        if (!report.getCycle().isEmpty()) kinds.add("cycle");
        if (!report.getFailedMerge().isEmpty()) kinds.add("merge");
        if (report.getSpecializationReport() != null) kinds.add("specialization");
        if (!report.getTypeOverlap().isEmpty()) kinds.add("type");
        if (report.getMalformedStatements() != null) kinds.add("malformed");
        for (ValidationReport inner : report.getValidationReport()) collect(inner, kinds);
    }

    public static void main(String[] args) {
        File[] files = new File(args[0]).listFiles((folder, name) -> name.endsWith(".provn"));
        Arrays.sort(files);
        for (File file : files) {
            String verdict;
            List<String> kinds = new ArrayList<>();
            try (InputStream in = new FileInputStream(file)) {
                ProvFactory factory = new org.openprovenance.prov.vanilla.ProvFactory();
                Document document = new ProvDeserialiser(factory).deserialiseDocument(in);
                collect(new Validate(Config.newYesToAllConfig(factory, new Maker())).validate(document), kinds);
                verdict = kinds.isEmpty() ? "valid" : "invalid";
            } catch (Exception problem) {
                verdict = "error";
                kinds.add(problem.toString().replaceAll("\\s+", " "));
            }
            System.out.println(file.getName() + "\t" + verdict + "\t" + String.join(",", kinds));
        }
    }
}
